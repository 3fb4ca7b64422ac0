import { type Abi, type Address, encodeFunctionData, type Hex } from "viem";
import type { CallData, Deed, GasNeed, Outcome } from "./plan-types.ts";

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
