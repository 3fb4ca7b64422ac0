import type { Address } from "viem";
import type { Coverage, OwnCall } from "./types.ts";

/**
 * What is read of one wallet at most: its newest own calls. Part of what a record follows from, so that a change of a bound
 * changes the records of wallets beyond it.
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
 * the line of the call at a place. What is within does not depend on how many older ones there are.
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

/** What rows cover of which older calls of the window were left out: nothing before the oldest call that is left. */
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
