import type { Address } from "viem";
import { NO_HOLDINGS } from "../../model/features/holdings.ts";
import { SECONDS_PER_DAY, weekOf } from "../../model/features/time.ts";
import { roundMicro } from "../../model/score/fixed-point.ts";
import { type ApprovalFinding, type ApprovalQuestion, findApprovals } from "./approvals.ts";
import { compareTexts } from "./compare.ts";
import { causeOf, type FailureCause, type FailureGroup, findFailureGroups } from "./failures.ts";
import { type Advice, adviseHealth } from "./health-advice.ts";
import { type Money, type PaidCall, type ReportFacts, sumMoney } from "./report-facts.ts";

/** Calls and their fees. */
type Spending = { readonly calls: number; readonly spent: Money };

/** One week of the window, Monday to Sunday in UTC. */
type ActiveWeek = Spending & {
  /** Unix seconds of its Monday. */
  readonly from: number;
  readonly failures: number;
};

export type Health = {
  readonly calls: number;
  readonly failures: number;
  /** Share of successful calls, rounded to 1e-6; null without calls. */
  readonly successRate: number | null;
  /** Calls without a read receipt: their effect and the market price are unknown. */
  readonly unreadReceipts: number;
  readonly spent: Money;
  /** Fees of failures. */
  readonly wasted: Money;
  readonly causes: Readonly<Record<FailureCause, Spending>>;
  readonly failureGroups: readonly FailureGroup[];
  /** From the first covered week to the report's week, including weeks without calls. */
  readonly weeks: readonly ActiveWeek[];
  readonly portfolio: Portfolio;
  /** Null where approvals were not read. */
  readonly approvals: readonly ApprovalFinding[] | null;
  /** The largest saving first. */
  readonly advice: readonly Advice[];
};

/** Diagnoses a wallet's own calls of the window. Parts add up to their totals; unread parts are null. */
export function diagnoseHealth(
  facts: ReportFacts,
  { drawnTokens }: Pick<ApprovalQuestion, "drawnTokens">,
): Health {
  const { calls } = facts.paid;
  const failed = calls.filter(({ call }) => !call.ok);
  const byCause = (cause: FailureCause) =>
    spendingOf(failed.filter(({ call }) => causeOf(call, facts.policy) === cause));
  const approvals = findApprovals({ ...facts, drawnTokens });
  return {
    calls: calls.length,
    failures: failed.length,
    successRate: calls.length === 0 ? null : roundMicro((calls.length - failed.length) / calls.length),
    unreadReceipts: calls.filter(({ call }) => call.receipt === null).length,
    spent: spendingOf(calls).spent,
    wasted: spendingOf(failed).spent,
    causes: { out_of_gas: byCause("out_of_gas"), reverted: byCause("reverted") },
    failureGroups: findFailureGroups(calls, facts.policy),
    weeks: weeksOf(facts),
    portfolio: describePortfolio(facts),
    approvals,
    advice: adviseHealth(facts, approvals),
  };
}

function spendingOf(calls: readonly PaidCall[]): Spending {
  return { calls: calls.length, spent: sumMoney(calls.map(({ fee }) => fee)) };
}

function weeksOf({ rows, asOf, paid, policy }: ReportFacts): readonly ActiveWeek[] {
  const opened = asOf.timestamp - policy.window.days * SECONDS_PER_DAY;
  const from = rows.coverage.complete ? opened : Math.max(opened, rows.coverage.fromTimestamp);
  const first = paid.calls[0]?.call.timestamp;
  const firstWeek = weekOf(first === undefined ? from : Math.min(first, from));
  const calls = Map.groupBy(paid.calls, ({ call }) => weekOf(call.timestamp));
  const count = Math.max(0, weekOf(asOf.timestamp) - firstWeek + 1);
  return Array.from({ length: count }, (_, position): ActiveWeek => {
    const week = firstWeek + position;
    const own = calls.get(week) ?? [];
    return {
      // Week 0 began on the Monday three days before 1970-01-01.
      from: (7 * week - 3) * SECONDS_PER_DAY,
      failures: own.filter(({ call }) => !call.ok).length,
      ...spendingOf(own),
    };
  });
}

/** A token that own calls left in the wallet. */
export type Position = {
  readonly token: Address;
  /** Of the token list; null, as are the decimals, for a token not on it. */
  readonly symbol: string | null;
  readonly decimals: number | null;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  readonly recognised: boolean;
  /** Whole millionths of a US dollar; null where neither a feed nor the wallet's own trades price it. */
  readonly microUsd: number | null;
  /** own_trade: priced by the wallet's own trade, which is arbitrary if both sides belong to the wallet's owner. */
  readonly pricedBy: "feed" | "own_trade" | null;
};

export type Portfolio =
  | { readonly kind: "unread" | "none"; readonly reason: string }
  | {
      readonly kind: "held";
      /** Highest worth first, unpriced ones last. */
      readonly positions: readonly Position[];
      /** Sum of recognised positions with a feed price; null without any. */
      readonly recognisedMicroUsd: number | null;
      /** Sum of other priced positions, whose price rests on the wallet's own trades; null without any. */
      readonly otherMicroUsd: number | null;
      readonly unpriced: number;
    };

/** Explains the portfolio to readers. */
export const PORTFOLIO_BASIS =
  "What the wallet's own calls of the 180 days before its last one brought in, less what they took out. What others sent, what was held before, and the balance of the native coin are not in it. Worth: the daily feed price on the day of the last own call, or what the wallet itself gave for the token; the total is of recognised tokens with a feed price alone.";

/** Describes the tokens that own calls left in the wallet. */
export function describePortfolio({
  holdings,
  rows,
  history,
  market,
}: Pick<ReportFacts, "holdings" | "rows" | "history" | "market">): Portfolio {
  if (holdings.kind !== "held") return { kind: holdings.kind, reason: NO_HOLDINGS[holdings.kind] };
  const listed = new Map(rows.tokens.tokens.map((token) => [token.address, token]));
  const pricedAt = history.calls.at(-1)?.timestamp;
  const isFed = (token: Address) => pricedAt !== undefined && market.tokenWorth(token, 1n, pricedAt) !== null;
  const positions = holdings.tokens.map(({ token, amount, recognised, worth }): Position => {
    const known = listed.get(token);
    return {
      token,
      symbol: known?.symbol ?? null,
      decimals: known?.decimals ?? null,
      amount,
      recognised,
      microUsd: worth === null ? null : Math.round(worth),
      pricedBy: worth === null ? null : isFed(token) ? "feed" : "own_trade",
    };
  });
  const isVouched = ({ recognised, pricedBy }: Position) => recognised && pricedBy === "feed";
  return {
    kind: "held",
    positions: positions.toSorted(byWorth),
    recognisedMicroUsd: knownSum(positions.filter(isVouched)),
    otherMicroUsd: knownSum(positions.filter((position) => !isVouched(position))),
    unpriced: positions.filter(({ microUsd }) => microUsd === null).length,
  };
}

function knownSum(positions: readonly Position[]): number | null {
  const known = positions.flatMap(({ microUsd }) => (microUsd === null ? [] : [microUsd]));
  return known.length === 0 ? null : known.reduce((sum, worth) => sum + worth, 0);
}

function byWorth(a: Position, b: Position): number {
  if (a.microUsd === null || b.microUsd === null) {
    if (a.microUsd !== b.microUsd) return a.microUsd === null ? 1 : -1;
    return compareTexts(a.token, b.token);
  }
  return b.microUsd - a.microUsd || compareTexts(a.token, b.token);
}
