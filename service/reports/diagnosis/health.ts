import type { Address } from "viem";
import { SECONDS_PER_DAY, weekOf } from "../../model/features/time.ts";
import { roundMicro } from "../../model/score/fixed-point.ts";
import { type ApprovalQuestion, findApprovals } from "./approvals.ts";
import { causeOf, type FailureCause, findFailureGroups } from "./failures.ts";
import { adviseHealth } from "./health-advice.ts";
import { compare, type PaidCall, type ReportFacts, sumMoney } from "./report-facts.ts";

export type Health = ReturnType<typeof diagnoseHealth>;

/** Diagnoses a wallet's own calls of the window. Parts add up to their totals; unread parts are null. */
export function diagnoseHealth(facts: ReportFacts, { drawnTokens }: Pick<ApprovalQuestion, "drawnTokens">) {
  const { calls } = facts.paid;
  const failed = calls.filter(({ call }) => !call.ok);
  const byCause = (cause: FailureCause) =>
    spendingOf(failed.filter(({ call }) => causeOf(call, facts.policy) === cause));
  const approvals = findApprovals({ ...facts, drawnTokens });
  return {
    calls: calls.length,
    failures: failed.length,
    /** Share of successful calls, rounded to 1e-6; null without calls. */
    successRate: calls.length === 0 ? null : roundMicro((calls.length - failed.length) / calls.length),
    /** Their effect and the market price are unknown. */
    unreadReceipts: calls.filter(({ call }) => call.receipt === null).length,
    spent: spendingOf(calls).spent,
    wasted: spendingOf(failed).spent,
    causes: { out_of_gas: byCause("out_of_gas"), reverted: byCause("reverted") },
    failureGroups: findFailureGroups(calls, facts.policy),
    /** From the first covered week to the report's week, including weeks without calls. */
    weeks: weeksOf(facts),
    portfolio: describePortfolio(facts),
    /** Null where approvals were not read. */
    approvals,
    advice: adviseHealth(facts, approvals),
  };
}

function spendingOf(calls: readonly PaidCall[]) {
  return { calls: calls.length, spent: sumMoney(calls.map(({ fee }) => fee)) };
}

/** Weeks from Monday to Sunday in UTC; `from` is in Unix seconds. */
function weeksOf({ rows, asOf, paid, policy }: ReportFacts) {
  const opened = asOf.timestamp - policy.window.days * SECONDS_PER_DAY;
  const from = rows.coverage.complete ? opened : Math.max(opened, rows.coverage.fromTimestamp);
  const first = paid.calls[0]?.call.timestamp;
  const firstWeek = weekOf(first === undefined ? from : Math.min(first, from));
  const calls = Map.groupBy(paid.calls, ({ call }) => weekOf(call.timestamp));
  const count = Math.max(0, weekOf(asOf.timestamp) - firstWeek + 1);
  return Array.from({ length: count }, (_, position) => {
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

export type Portfolio = ReturnType<typeof describePortfolio>;

export type Position = Extract<Portfolio, { kind: "held" }>["positions"][number];

/** Why nothing is said of the tokens of a wallet. */
export const HOLDINGS_WORDS = {
  unread: "The receipts of most outgoing transactions were not read.",
  none: "The wallet never acquired a token.",
} as const;

/** Describes the tokens that own calls left in the wallet, highest worth first, unpriced ones last. */
export function describePortfolio({
  holdings,
  rows,
  history,
  market,
}: Pick<ReportFacts, "holdings" | "rows" | "history" | "market">) {
  if (holdings.kind !== "held") return { kind: holdings.kind, reason: HOLDINGS_WORDS[holdings.kind] };
  const listed = new Map(rows.tokens.tokens.map((token) => [token.address, token]));
  const pricedAt = history.calls.at(-1)?.timestamp;
  const isFed = (token: Address) => pricedAt !== undefined && market.tokenWorth(token, 1n, pricedAt) !== null;
  const positions = holdings.tokens.map(({ token, amount, recognised, worth }) => ({
    token,
    /** Of the token list; null, as are the decimals, for a token not on it. */
    symbol: listed.get(token)?.symbol ?? null,
    decimals: listed.get(token)?.decimals ?? null,
    /** In the token's smallest unit. */
    amount,
    recognised,
    /** Whole millionths of a US dollar; null where neither a feed nor the wallet's own trades price it. */
    microUsd: worth === null ? null : Math.round(worth),
    /** own_trade: priced by the wallet's own trade, which is arbitrary if both sides belong to the wallet's owner. */
    pricedBy: worth === null ? null : isFed(token) ? ("feed" as const) : ("own_trade" as const),
  }));
  const isVouched = ({ recognised, pricedBy }: (typeof positions)[number]) =>
    recognised && pricedBy === "feed";
  return {
    kind: "held" as const,
    positions: positions.toSorted(
      (a, b) => (b.microUsd ?? -1) - (a.microUsd ?? -1) || compare(a.token, b.token),
    ),
    /** Sum of recognised positions with a feed price; null without any. */
    recognisedMicroUsd: knownSum(positions.filter(isVouched)),
    /** Sum of other priced positions, whose price rests on the wallet's own trades; null without any. */
    otherMicroUsd: knownSum(positions.filter((position) => !isVouched(position))),
    unpriced: positions.filter(({ microUsd }) => microUsd === null).length,
  };
}

function knownSum(positions: readonly { microUsd: number | null }[]): number | null {
  const known = positions.flatMap(({ microUsd }) => (microUsd === null ? [] : [microUsd]));
  return known.length === 0 ? null : known.reduce((sum, worth) => sum + worth, 0);
}
