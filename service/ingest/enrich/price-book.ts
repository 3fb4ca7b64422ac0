import type { Address } from "viem";
import { dayOf } from "../../model/features/time.ts";
import type { FeedPriceRow } from "./feed-prices.ts";
import type { PricedToken } from "./market.ts";

/** Value of an amount, in the token's smallest unit, at a Unix time, in millionths of a US dollar; null without a price. */
export type ValueOf = (token: PricedToken, amount: bigint, timestamp: number) => bigint | null;

const MICRO_USD = 1_000_000n;

/** Values by the last price of an earlier day, or by the first there is; rounded down. */
export function createPriceBook(rows: readonly FeedPriceRow[]): ValueOf {
  const byFeed = Map.groupBy(
    rows.toSorted((a, b) => a.day - b.day),
    ({ feed }) => feed,
  );
  return ({ decimals, feed }, amount, timestamp) => {
    const price = priceBefore(byFeed, feed, dayOf(timestamp));
    if (price === null) return null;
    return (amount * price.answer * MICRO_USD) / 10n ** BigInt(decimals + price.decimals);
  };
}

function priceBefore(
  byFeed: ReadonlyMap<Address, readonly FeedPriceRow[]>,
  feed: Address,
  day: number,
): FeedPriceRow | null {
  const rows = byFeed.get(feed) ?? [];
  return rows.findLast((row) => row.day < day) ?? rows[0] ?? null;
}
