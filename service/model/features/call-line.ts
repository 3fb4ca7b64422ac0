import type { Address, Hex } from "viem";
import type { CallEffect, CallReceipt, Coverage, OwnCall, TokenMove } from "./types.ts";

const NONE = "-";
const FIELDS = 19;

/**
 * One own call as a line of text: hash, block, index, position, time, called account, method, value, outcome (1 or 0), gas
 * limit, gas used, fee, gas price, recipient, amount, market price, effect, emitters and moves (token:amount), separated by
 * spaces; lists by commas; "-" for none or not known, and for the last four of a call without receipt. Calls are read from the database
 * in this form, and rows digests hash it.
 */
export function formatCall(call: OwnCall): string {
  const { receipt } = call;
  return `${call.hash} ${call.blockNumber} ${call.transactionIndex} ${call.position} ${call.timestamp} ${
    call.to ?? NONE
  } ${call.selector ?? NONE} ${call.value ?? NONE} ${call.ok ? 1 : 0} ${call.gasLimit} ${call.gasUsed} ${call.fee} ${
    call.gasPrice
  } ${call.recipient ?? NONE} ${call.amount ?? NONE} ${
    receipt === null
      ? "- - - -"
      : `${receipt.marketPrice ?? NONE} ${receipt.effect} ${receipt.emitters.join(",") || NONE} ${
          receipt.moves.map(formatMove).join(",") || NONE
        }`
  }`;
}

function formatMove({ token, amount }: TokenMove): string {
  return `${token}:${amount}`;
}

/** The order of calls in the chain. */
export function compareCalls(a: OwnCall, b: OwnCall): number {
  return a.blockNumber - b.blockNumber || a.transactionIndex - b.transactionIndex || a.position - b.position;
}

/** Reads a line of `formatCall`; throws on a line of another shape. */
export function parseCall(line: string): OwnCall {
  return createCallParser()(line);
}

/** Returns a parser of many lines. Equal parts share one copy, which costs little to compare. */
export function createCallParser(): (line: string) => OwnCall {
  const texts = new Map<string, string>();
  const emitters = new Map<string, readonly Address[]>([[NONE, []]]);
  const text = (field: string | undefined): string | null =>
    field === undefined || field === NONE ? null : known(texts, field, ownText);
  return (line) => {
    const fields = line.split(" ");
    if (fields.length !== FIELDS) throw new Error(`expected the ${FIELDS} fields of a call, got "${line}"`);
    const [hash, block, index, position, timestamp, to, selector, value, ok, gasLimit, gasUsed] = fields;
    const [, , , , , , , , , , , fee, gasPrice, recipient, amount, market, effect, emitted, moves] = fields;
    return {
      hash: hash as Hex,
      blockNumber: Number(block),
      transactionIndex: Number(index),
      position: Number(position),
      timestamp: Number(timestamp),
      to: text(to) as Address | null,
      selector: text(selector) as Hex | null,
      value: value === NONE ? null : integer(value),
      ok: ok === "1",
      gasLimit: integer(gasLimit),
      gasUsed: integer(gasUsed),
      fee: integer(fee),
      gasPrice: integer(gasPrice),
      recipient: text(recipient) as Address | null,
      amount: amount === NONE ? null : integer(amount),
      receipt:
        effect === undefined || effect === NONE
          ? null
          : {
              marketPrice: market === NONE ? null : integer(market),
              effect: effect as CallEffect,
              emitters: known(emitters, emitted ?? NONE, (list) => list.split(",").map(internAddress)),
              moves: moves === undefined || moves === NONE ? NO_MOVES : moves.split(",").map(parseMove),
            },
    };
  };

  function internAddress(field: string): Address {
    return known(texts, field, ownText) as Address;
  }

  function parseMove(field: string): CallReceipt["moves"][number] {
    const colon = field.indexOf(":");
    return { token: internAddress(field.slice(0, colon)), amount: integer(field.slice(colon + 1)) };
  }
}

const NO_MOVES: readonly TokenMove[] = [];

/** Digits of a number that is a safe integer: to read these as a number first takes half the time. */
const SAFE_DIGITS = 15;

function integer(field: string | undefined): bigint {
  if (field === undefined) throw new Error("a call is cut short");
  if (field === "0") return 0n;
  return field.length <= SAFE_DIGITS ? BigInt(Number(field)) : BigInt(field);
}

/** Copies a part of a longer text: a slice would hold the whole text in memory. */
function ownText(field: string): string {
  return Buffer.from(field, "latin1").toString("latin1");
}

function known<Value>(values: Map<string, Value>, field: string, make: (field: string) => Value): Value {
  const found = values.get(field);
  if (found !== undefined) return found;
  const made = make(field);
  values.set(field, made);
  return made;
}

/**
 * Bounds of the own calls that are read of one wallet, the newest ones. Records follow from them: a change of a bound changes
 * the records of wallets beyond it.
 */
export const WALLET_BOUNDS = {
  /** Twenty times what a busy agent does in half a year; scored in a fifth of a second. */
  calls: 20_000,
  /** Of their lines with a newline each: 800 a call, twice what a usual one takes, where a line can take 6,000. */
  bytes: 16 * 1_048_576,
  /** Called, paid or logging accounts, each of which is described: two for each call, beside which only logs can name more. */
  accounts: 40_000,
} as const;

/**
 * How many of a wallet's calls, which are sorted, lie within the bounds, counted from the newest; `lengthOf` is the length of
 * the line of the call at a place. The result does not depend on the number of older calls.
 */
export function countNewest(calls: readonly OwnCall[], lengthOf: (place: number) => number): number {
  const accounts = new Set<Address>();
  let bytes = 0;
  for (let place = calls.length - 1; place >= 0; place--) {
    const call = calls[place];
    const count = calls.length - place;
    if (call === undefined) throw new RangeError(`${calls.length} calls, none at ${place}`);
    bytes += lengthOf(place) + 1;
    for (const account of namedBy(call)) accounts.add(account);
    if (count > WALLET_BOUNDS.calls || bytes > WALLET_BOUNDS.bytes || accounts.size > WALLET_BOUNDS.accounts)
      return count - 1;
  }
  return calls.length;
}

function* namedBy({ to, recipient, receipt }: OwnCall): Iterable<Address> {
  if (to !== null) yield to;
  if (recipient !== null) yield recipient;
  if (receipt !== null) yield* receipt.emitters;
}

/** Coverage of rows whose older calls were left out: it starts at the oldest call that remains. */
export function cutCoverage(coverage: Coverage, oldest: OwnCall | undefined): Coverage {
  if (oldest === undefined) throw new RangeError("the newest call of a wallet is never beyond the bounds");
  return {
    ...coverage,
    fromBlock: Math.max(coverage.fromBlock, oldest.blockNumber),
    fromTimestamp: Math.max(coverage.fromTimestamp, oldest.timestamp),
    complete: false,
    newestCallsOnly: true,
  };
}
