import { type Address, isHex, toHex } from "viem";
import { agentHealthOracleAbi } from "../chain/abi/agent-health-oracle.ts";
import { decodeError } from "../chain/bounded-abi.ts";

/** Why a publication was not sent, and for whom trying again is pointless. */
export type Refusal = {
  /** Name of the oracle's error, else the kind of the sender's failure. */
  readonly cause: string;
  /** The one wallet, lower-case, whose word the contract can never take; null when the same batch may pass later. */
  readonly malformedWallet: Address | null;
};

/** Reads the revert of a refused publication: paused, wrong role or clock pass with time, a malformed word never does. */
export function readRefusal(failure: {
  readonly kind: string | null;
  readonly revertData: string | null;
}): Refusal {
  const unread: Refusal = { cause: failure.kind ?? "unknown", malformedWallet: null };
  if (!isHex(failure.revertData) || failure.revertData === "0x") return unread;
  const error = decodeError(agentHealthOracleAbi, failure.revertData);
  // Not one of the oracle's errors: the caller goes by the sender's own classification.
  if (error === null) return unread;
  if (error.errorName !== "MalformedRecord") return { cause: error.errorName, malformedWallet: null };
  const [, word] = error.args;
  return { cause: error.errorName, malformedWallet: toHex(BigInt(word) >> 96n, { size: 20 }) };
}
