import type { Address, Hex } from "viem";
import type { OwnCall } from "./types.ts";

const NONE = "-";

/**
 * One own call as a line of text: hash, block, index, time, called account, method, value, outcome (1 or 0), gas limit,
 * gas used and fee, separated by spaces, with "-" for none. The index is read in this form, and rows digests hash it.
 */
export function formatCall(call: OwnCall): string {
  return `${call.hash} ${call.blockNumber} ${call.transactionIndex} ${call.timestamp} ${call.to ?? NONE} ${
    call.selector ?? NONE
  } ${call.value} ${call.ok ? 1 : 0} ${call.gasLimit} ${call.gasUsed} ${call.fee}`;
}

/** Reads a line of `formatCall`; throws on a line of another shape. */
export function parseCall(line: string): OwnCall {
  const [hash, block, index, timestamp, to, selector, value, ok, gasLimit, gasUsed, fee, ...rest] =
    line.split(" ");
  if (
    gasLimit === undefined ||
    gasUsed === undefined ||
    value === undefined ||
    fee === undefined ||
    rest.length > 0
  ) {
    throw new Error(`expected the eleven fields of a call, got "${line}"`);
  }
  return {
    hash: hash as Hex,
    blockNumber: Number(block),
    transactionIndex: Number(index),
    timestamp: Number(timestamp),
    to: to === NONE ? null : (to as Address),
    selector: selector === NONE ? null : (selector as Hex),
    value: BigInt(value),
    ok: ok === "1",
    gasLimit: BigInt(gasLimit),
    gasUsed: BigInt(gasUsed),
    fee: BigInt(fee),
  };
}
