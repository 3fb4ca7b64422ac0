import { LIMIT_FORMULA, type LimitAdvice, type LimitState } from "../../reports/diagnosis/gas-limits.ts";
import {
  type Advice,
  adviceOnLimits,
  adviceOnSaving,
  methodName,
} from "../../reports/diagnosis/health-advice.ts";
import {
  findSavings,
  type GasBill,
  type MethodBill,
  type Optimization,
  type Saving,
  totalOf,
} from "../../reports/diagnosis/optimize.ts";
import { type Money, PER_MONTH_DAYS, type ReportFacts } from "../../reports/diagnosis/report-facts.ts";
import { toEip55 } from "../address-schema.ts";
import { reportScope } from "../wallet-report.ts";
import { renderAdvice, renderMoney, renderPrices } from "./get-health-parts.ts";
import { monthBasis } from "./get-health-render.ts";
import type { OptimizeAnswer } from "./get-optimize-schema.ts";

const MOST_METHODS = 500;
const MOST_RECOMMENDATIONS = 100;
const METHOD = {
  percentiles:
    "Nearest rank over gas used by successful calls of the window: the smallest value that at least 95 % (50 %) of them do not exceed. Failures are left out, as they tell no whole use.",
  suggested_limit: `${LIMIT_FORMULA}. A refund of at most a fifth of the gas is paid back after the call, so a call may need 5/4 of what it used. By the most used and not by p95: a limit too low costs a call; gas that is not used is not paid, so a lower limit saves nothing.`,
  overpaid:
    "(price per gas paid - (base fee + median tip of the call's own block)) x gas used, 0 where negative, never more than the fee.",
  savings:
    "simulate_first: fees of reverted calls. raise_gas_limit: fees of calls that used up their limit. pay_market_price: overpaid by successful calls. No fee is in two of them, so together they never exceed what was spent. All are upper bounds: hindsight knows more than a sender.",
} as const;
const LIMIT_WORDS: Readonly<Record<LimitState, string>> = {
  fits: "The limit suits what the calls use.",
  generous: "The median limit is far above what 95 % of the calls use; lowering it saves no fee.",
  too_low: "Calls used up their limit, and no limit so far reaches the suggested one.",
  unknown: "No call with a limit of its own succeeded or ran out, so nothing tells what is needed.",
};

/** The answer of GET /optimize/{address}. */
export function renderOptimization(facts: ReportFacts, { methods, totals }: Optimization): OptimizeAnswer {
  const { rows, paid, policy } = facts;
  const rest = methods.slice(MOST_METHODS);
  return {
    address: toEip55(rows.wallet),
    ...reportScope(facts, policy.window.days),
    methods: methods.slice(0, MOST_METHODS).map((method) => renderMethod(method, paid.days)),
    other_methods: rest.length === 0 ? null : { methods: rest.length, ...renderBill(totalOf(rest)) },
    totals: { methods: methods.length, ...renderBill(totals) },
    recommendations: advise(facts).slice(0, MOST_RECOMMENDATIONS).map(renderAdvice),
    method: { ...METHOD, month: monthBasis(paid.days) },
    prices: renderPrices(facts),
  };
}

function advise(facts: ReportFacts): readonly Advice[] {
  const savings = findSavings(facts.paid, facts.policy).filter(({ monthly }) => monthly.wei > 0n);
  return [...savings.map((saving) => adviceOnSaving(saving, facts.paid.days)), ...adviceOnLimits(facts)];
}

function renderMethod(method: MethodBill, days: number): OptimizeAnswer["methods"][number] {
  return {
    contract: method.contract === null ? null : toEip55(method.contract),
    selector: method.selector,
    method: methodName(method.selector),
    ...renderBill(method),
    gas_limit: renderLimit(method.limit),
    savings: method.savings.map((saving) => renderSaving(saving, days)),
  };
}

function renderBill(bill: GasBill) {
  return {
    calls: bill.calls,
    failures: bill.failures,
    spent: renderMoney(bill.spent),
    wasted: renderMoney(bill.wasted),
    overpaid: bill.overpaid === null ? null : renderMoney(bill.overpaid),
    overpaid_known_calls: bill.pricedCalls,
    saving: renderMoney(bill.saved),
    saving_per_month: renderMoney(bill.monthly),
  };
}

function renderSaving(
  { kind, calls, window, monthly }: Saving,
  days: number,
): OptimizeAnswer["methods"][number]["savings"][number] {
  return {
    kind,
    calls,
    saving: renderMoney(window),
    saving_per_month: renderMoney(monthly),
    arithmetic: arithmeticOf(window, monthly, days),
  };
}

function arithmeticOf(window: Money, monthly: Money, days: number) {
  const scale = `x ${PER_MONTH_DAYS} / ${days} days`;
  return {
    eth: `${window.wei} wei ${scale} = ${monthly.wei} wei`,
    usd:
      window.microUsd === null || monthly.microUsd === null
        ? null
        : `${window.microUsd} micro-USD ${scale} = ${monthly.microUsd} micro-USD`,
  };
}

function renderLimit(limit: LimitAdvice): OptimizeAnswer["methods"][number]["gas_limit"] {
  const { medianLimit, p95Used } = limit;
  return {
    state: limit.state,
    samples: limit.samples,
    small_sample: limit.smallSample,
    median_limit: gas(medianLimit),
    highest_limit: gas(limit.highestLimit),
    p50_used: gas(limit.p50Used),
    p95_used: gas(p95Used),
    max_used: gas(limit.maxUsed),
    median_limit_over_p95_used:
      medianLimit === null || p95Used === null || p95Used === 0n
        ? null
        : Number((medianLimit * 1000n) / p95Used) / 1000,
    highest_limit_that_ran_out: gas(limit.exhaustedLimit),
    suggested_limit: gas(limit.suggested),
    reason: LIMIT_WORDS[limit.state],
  };
}

function gas(amount: bigint | null): string | null {
  return amount === null ? null : String(amount);
}
