import type { Address } from "viem";
import { roundMicro } from "../../model/score/fixed-point.ts";
import type { FailureGroup } from "../../reports/diagnosis/failures.ts";
import type { Health } from "../../reports/diagnosis/health.ts";
import { methodName } from "../../reports/diagnosis/health-advice.ts";
import {
  type Money,
  PER_MONTH_DAYS,
  perMonth,
  type ReportFacts,
} from "../../reports/diagnosis/report-facts.ts";
import type { SeenCall, WalletLife } from "../../scores/wallet-life.ts";
import { toEip55 } from "../address-schema.ts";
import { isoOf, reportScope } from "../wallet-report.ts";
import {
  renderAdvice,
  renderApprovals,
  renderMoney,
  renderPortfolio,
  renderPrices,
} from "./get-health-parts.ts";
import type { HealthAnswer } from "./get-health-schema.ts";

const MOST_FAILURE_GROUPS = 200;
const MOST_RECOMMENDATIONS = 100;
const FAILURE_NOTE =
  "out_of_gas: gas used reached 98 % of the limit; code that gives up all its gas on purpose looks the same. reverted: any other failure. Receipts hold no revert reason, so none is stored and none is guessed.";
const SMART_ACCOUNT_NOTE =
  "Calls are what the account executed in transactions of others; their fees may have been paid by a relayer or a paymaster.";
const DELEGATED_NOTE = "An EOA that runs the code of another account (EIP-7702).";

/** The answer of GET /health/{address}. */
export function renderHealth({
  facts,
  health,
  life,
}: {
  readonly facts: ReportFacts;
  readonly health: Health;
  readonly life: WalletLife;
}): HealthAnswer {
  const { rows, paid, policy } = facts;
  const { calls, failures, successRate, unreadReceipts } = health;
  return {
    address: toEip55(rows.wallet),
    account: accountOf(facts, life),
    ...reportScope(facts, policy.window.days),
    totals: {
      calls,
      successes: calls - failures,
      failures,
      success_rate: successRate,
      unread_receipts: unreadReceipts,
    },
    first_seen: renderSeen(life.first),
    last_seen: renderSeen(life.last),
    gas: renderGas(health, paid.days),
    failures: renderFailures(health),
    activity_by_week: health.weeks.map((week) => ({
      week: isoOf(week.from).slice(0, "2026-01-05".length),
      calls: week.calls,
      failures: week.failures,
      spent: renderMoney(week.spent),
    })),
    portfolio: renderPortfolio(health.portfolio),
    ...renderApprovals(health.approvals),
    recommendations: health.advice.slice(0, MOST_RECOMMENDATIONS).map(renderAdvice),
    prices: renderPrices(facts),
  };
}

/** Only an account without code of its own can send transactions; what has sent none and executed some is a contract. */
function accountOf({ rows }: ReportFacts, { hasCode }: WalletLife): HealthAnswer["account"] {
  const delegate: Address | null = rows.delegation === null ? null : rows.delegation.to;
  const delegates_to = delegate === null ? null : toEip55(delegate);
  if (delegate !== null)
    return { kind: "delegated_eoa", is_contract: true, delegates_to, note: DELEGATED_NOTE };
  if (rows.calls.some(({ position }) => position === 0))
    return { kind: "eoa", is_contract: false, delegates_to, note: null };
  if (rows.calls.length > 0)
    return { kind: "smart_account", is_contract: true, delegates_to, note: SMART_ACCOUNT_NOTE };
  return { kind: "unknown", is_contract: hasCode, delegates_to, note: "No own call of it is known." };
}

function renderSeen(seen: SeenCall | null): HealthAnswer["first_seen"] {
  if (seen === null) return null;
  return { block: seen.block, time: isoOf(seen.timestamp), tx_hash: seen.hash };
}

function renderGas({ spent, wasted }: Health, days: number): HealthAnswer["gas"] {
  return {
    spent: renderMoney(spent),
    wasted: renderMoney(wasted),
    wasted_share: shareOf(wasted, spent),
    spent_per_month: renderMoney(perMonth(spent, days)),
    wasted_per_month: renderMoney(perMonth(wasted, days)),
    month_basis: monthBasis(days),
  };
}

/** What amounts of a month are made from. */
export function monthBasis(days: number): string {
  return `Amount of the window x ${PER_MONTH_DAYS} / ${days} days, rounded down; the days are those since the first call of the window, ${PER_MONTH_DAYS} at least.`;
}

/** One amount over another, rounded to 1e-6; null over nothing. */
function shareOf(part: Money, whole: Money): number | null {
  return whole.wei === 0n ? null : roundMicro(Number(part.wei) / Number(whole.wei));
}

function renderFailures({ causes, failureGroups }: Health): HealthAnswer["failures"] {
  const { out_of_gas, reverted } = causes;
  return {
    out_of_gas: { failures: out_of_gas.calls, wasted: renderMoney(out_of_gas.spent) },
    reverted: { failures: reverted.calls, wasted: renderMoney(reverted.spent) },
    revert_reasons: null,
    note: FAILURE_NOTE,
    by_method: failureGroups.slice(0, MOST_FAILURE_GROUPS).map(renderFailure),
    left_out: Math.max(0, failureGroups.length - MOST_FAILURE_GROUPS),
  };
}

function renderFailure(group: FailureGroup): HealthAnswer["failures"]["by_method"][number] {
  return {
    contract: group.contract === null ? null : toEip55(group.contract),
    selector: group.selector,
    method: methodName(group.selector),
    cause: group.cause,
    failures: group.failures,
    attempts: group.attempts,
    wasted: renderMoney(group.wasted),
    first_at: isoOf(group.firstAt),
    last_at: isoOf(group.lastAt),
    last_tx_hash: group.lastHash,
    longest_run: group.longestRun,
    succeeded_since: group.succeededSince,
  };
}
