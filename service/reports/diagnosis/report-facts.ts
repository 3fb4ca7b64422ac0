import { countedFees } from "../../model/features/call-tally.ts";
import { holdingsOf } from "../../model/features/holdings.ts";
import { createMarket, type Market } from "../../model/features/market.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf, OwnCall, WalletRows } from "../../model/features/types.ts";
import { sortCalls, weighCalls } from "../../model/features/weigh-calls.ts";
import type { Policy } from "../../model/score/policy-shape.ts";

export type ReportFacts = ReturnType<typeof gatherReportFacts>;

/** Derives the facts from a wallet's rows under a policy, independent of the rows' order. */
export function gatherReportFacts({ rows, asOf }: { rows: WalletRows; asOf: AsOf }, policy: Policy) {
  const market = createMarket(rows.tokens);
  /** Weighed as the score weighs it: over the window before the last own call. */
  const history = weighCalls(rows, market, policy);
  return {
    rows,
    asOf,
    policy,
    market,
    history,
    holdings: holdingsOf({ rows, history, market, policy }),
    /** Own calls of the window before the report's block. */
    paid: readPaidWindow({ rows, asOf, market }, policy.window.days),
  };
}

export function compare<Value extends bigint | string>(a: Value, b: Value): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** An amount of the native coin and its worth at the prices of the days on which it was paid. */
export type Money = {
  readonly wei: bigint;
  /** Whole millionths of a US dollar; null where no feed prices the native coin. */
  readonly microUsd: number | null;
};

export type PaidCall = {
  readonly call: OwnCall;
  readonly fee: Money;
  /** Overpayment: the part of the fee above base fee plus median tip of the block; null if the block does not show it. */
  readonly overpaid: Money | null;
};

/** Days of a month, and the shortest window: one active day must not be multiplied by 30. */
export const PER_MONTH_DAYS = 30;

/**
 * Own calls of the last `windowDays` before the report's block, with their costs. Executions in one transaction share
 * its fee, which is counted with the first of them. `days`, which monthly amounts are spread over, counts from the first
 * call, at least 30.
 */
export function readPaidWindow(
  { rows, asOf, market }: { rows: WalletRows; asOf: AsOf; market: Market },
  windowDays: number,
) {
  const from = asOf.timestamp - windowDays * SECONDS_PER_DAY;
  const own = sortCalls(rows.calls).filter(({ timestamp }) => timestamp >= from);
  const fees = countedFees(own);
  const calls = own.map((call, place): PaidCall => {
    const fee = fees[place];
    if (fee === undefined) throw new RangeError(`${fees.length} fees, none at ${place}`);
    const overpaid = overpaidWei(call, fee);
    return {
      call,
      fee: priced(fee, call.timestamp, market),
      overpaid: overpaid === null ? null : priced(overpaid, call.timestamp, market),
    };
  });
  const first = own[0]?.timestamp ?? asOf.timestamp;
  const days = Math.ceil((asOf.timestamp - first) / SECONDS_PER_DAY);
  return { calls, days: Math.max(PER_MONTH_DAYS, days) };
}

function overpaidWei({ gasPrice, gasUsed, receipt }: OwnCall, fee: bigint): bigint | null {
  if (receipt === null || receipt.marketPrice === null) return null;
  const above = gasPrice - receipt.marketPrice;
  if (above <= 0n) return 0n;
  const overpaid = above * gasUsed;
  return overpaid < fee ? overpaid : fee;
}

function priced(wei: bigint, timestamp: number, market: Market): Money {
  const worth = market.nativeWorth(wei, timestamp);
  return { wei, microUsd: worth === null ? null : Math.round(worth) };
}

/** Sum of amounts; its worth is null if one worth is unknown. */
export function sumMoney(amounts: Iterable<Money>): Money {
  let wei = 0n;
  let microUsd: number | null = 0;
  for (const amount of amounts) {
    wei += amount.wei;
    microUsd = microUsd === null || amount.microUsd === null ? null : microUsd + amount.microUsd;
  }
  return { wei, microUsd };
}

/** Scales an amount of a window to 30 days, rounded down. */
export function perMonth({ wei, microUsd }: Money, days: number): Money {
  return {
    wei: (wei * BigInt(PER_MONTH_DAYS)) / BigInt(days),
    microUsd: microUsd === null ? null : Math.floor((microUsd * PER_MONTH_DAYS) / days),
  };
}
