import { type Address, isHex, toHex } from "viem";
import { agentHealthOracleAbi } from "../chain/abi/agent-health-oracle.ts";
import { decodeError } from "../chain/bounded-abi.ts";
import type { OnChain, Published } from "./plan.ts";
import type { IntentRow } from "./publish-intents.ts";
import type { OracleState } from "./publish-records.ts";
import type { BackedScore } from "./publish-scores.ts";

export type Fate =
  /** The oracle's own events show it, or something newer. */
  | "landed"
  | "under_way"
  /** Its transaction was never sent. */
  | "refused"
  | "reverted"
  /** Its transaction is final, and yet the indexed events of that block do not show it. */
  | "lost";

export type SentScore = BackedScore & {
  readonly transaction: Pick<NonNullable<IntentRow["transaction"]>, "state" | "final" | "minedBlock">;
};

/** Judges a sent score by the oracle's events first, and by its transaction only where they are silent. */
export function fateOf(
  sent: Pick<SentScore, "score" | "transaction">,
  snapshot: {
    /** Undefined for a wallet without a record. */
    readonly oracle: OracleState | undefined;
    readonly indexedBlock: number;
  },
): Fate {
  if (snapshot.oracle !== undefined && snapshot.oracle.asOf >= sent.score.asOfBlock) return "landed";
  return fateOfTransaction(sent.transaction, snapshot.indexedBlock);
}

/** Judges a transaction whose effect the indexed events do not show. */
export function fateOfTransaction(
  { state, final, minedBlock }: SentScore["transaction"],
  indexedBlock: number,
): Exclude<Fate, "landed"> {
  switch (state) {
    case "queued":
    case "prepared":
    case "broadcast":
      return "under_way";
    case "failed":
      return "refused";
    case "reverted":
      return "reverted";
    case "mined":
      // Not final and not shown: the index lags, or a reorg took it out and the sender brings it back.
      return final && minedBlock !== null && indexedBlock >= minedBlock ? "lost" : "under_way";
  }
}

/** Returns the score to compare a new one with: a score under way counts as published, else the oracle's record does. */
export function onChainOf(snapshot: Parameters<typeof fateOf>[1], last: SentScore | null): OnChain {
  if (last !== null && fateOf(last, snapshot) === "under_way")
    return { kind: "record", record: publishedOf(last) };
  const { oracle } = snapshot;
  if (oracle === undefined) return { kind: "none" };
  if (!oracle.present) return { kind: "cleared", asOfFloor: oracle.asOf };
  const { sanctioned, safeMicroUsd, asOf, asOfTime } = oracle;
  const ahsScore = oracle.insufficient ? null : oracle.ahsScore;
  return { kind: "record", record: { ahsScore, sanctioned, safeMicroUsd, asOf, asOfTime } };
}

export function publishedOf({ score, safeMicroUsd }: BackedScore): Published {
  const { ahsScore, sanctioned, asOfBlock, asOfTime } = score;
  return { ahsScore, sanctioned, safeMicroUsd, asOf: asOfBlock, asOfTime };
}

/**
 * Reads the revert of a refused publication: the name of the oracle's error, else the kind of the sender's failure, and the one wallet
 * (lower-case) whose word the contract can never take, or null. Paused, wrong role or clock pass with time, a malformed word never does.
 */
export function readRefusal(failure: { kind: string | null; revertData: string | null }): {
  cause: string;
  malformedWallet: Address | null;
} {
  const unread = { cause: failure.kind ?? "unknown", malformedWallet: null };
  if (!isHex(failure.revertData) || failure.revertData === "0x") return unread;
  const error = decodeError(agentHealthOracleAbi, failure.revertData);
  // Not one of the oracle's errors: the caller goes by the sender's own classification.
  if (error === null) return unread;
  if (error.errorName !== "MalformedRecord") return { cause: error.errorName, malformedWallet: null };
  const [, word] = error.args;
  return { cause: error.errorName, malformedWallet: toHex(BigInt(word) >> 96n, { size: 20 }) };
}
