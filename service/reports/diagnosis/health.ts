import { SECONDS_PER_DAY, weekOf } from "../../model/features/time.ts";
import { roundMicro } from "../../model/score/fixed-point.ts";
import { type ApprovalFinding, type ApprovalQuestion, findApprovals } from "./approvals.ts";
import { causeOf, type FailureCause, type FailureGroup, findFailureGroups } from "./failures.ts";
import { type Money, type PaidCall, sumMoney } from "./gas-spending.ts";
import { type Advice, adviseHealth } from "./health-advice.ts";
import type { ReportFacts } from "./health-facts.ts";
import { describePortfolio, type Portfolio } from "./health-portfolio.ts";

/** Calls and what they cost. */
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
  /** Share of the calls that succeeded, rounded to 1e-6; null without calls. */
  readonly successRate: number | null;
  /** Calls whose receipts were not read: what they did and what the market paid then is not known. */
  readonly unreadReceipts: number;
  readonly spent: Money;
  /** Fees of failures. */
  readonly wasted: Money;
  readonly causes: Readonly<Record<FailureCause, Spending>>;
  readonly failureGroups: readonly FailureGroup[];
  /** From the first week that is covered to that of the report's block, those without calls included. */
  readonly weeks: readonly ActiveWeek[];
  readonly portfolio: Portfolio;
  /** Null where approvals were not read. */
  readonly approvals: readonly ApprovalFinding[] | null;
  /** The largest saving first. */
  readonly advice: readonly Advice[];
};

/** What a wallet's own calls of the window say of its health; parts add up to their totals, and unread parts are null. */
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
