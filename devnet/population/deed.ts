import { type Abi, type Address, encodeFunctionData, type Hex } from "viem";
import type { CallData, Creation, Outcome } from "./plan-types.ts";

/** Gas that a kind of call takes on chain, least and most over the whole population. */
export type GasNeed = { readonly least: number; readonly most: number };

/** A call without its sender, its time and its fees. */
export type Deed = {
  /** Null creates a contract. */
  readonly to: Address | null;
  readonly data: CallData;
  /** Wei. */
  readonly value: bigint;
  readonly gas: GasNeed;
  readonly outcome: Outcome;
  readonly creates: Creation | null;
  /** Key of the agent or job that must exist before. */
  readonly needs: string | null;
};

/** The same call, to succeed or to fail in the given way. */
export type DeedOf = (outcome: Outcome) => Deed;

/** A call of a contract without value, whose gas limit is found from what it takes. */
export function deed(to: Address, data: CallData, gas: GasNeed, outcome: Outcome): Deed {
  return { to, data, value: 0n, gas, outcome, creates: null, needs: null };
}

/** One encoder for all contracts; the tests that send every deed hold the names and arguments. */
export function encode(abi: Abi, functionName: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi, functionName, args });
}
