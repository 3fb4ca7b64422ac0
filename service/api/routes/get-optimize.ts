import { z } from "@hono/zod-openapi";
import { type Advice, adviceOnLimits, adviceOnSaving } from "../../reports/diagnosis/health-advice.ts";
import {
  findSavings,
  type GasBill,
  LIMIT_FORMULA,
  type LimitAdvice,
  type Optimization,
  optimizeGas,
  type Saving,
  totalOf,
} from "../../reports/diagnosis/optimize.ts";
import {
  gatherReportFacts,
  type Money,
  PER_MONTH_DAYS,
  type ReportFacts,
} from "../../reports/diagnosis/report-facts.ts";
import { methodName } from "../../reports/labels/method-names.ts";

import { definePaid } from "../kit/endpoint.ts";
import {
  noteInterest,
  readReport,
  reportScope,
  reportScopeShape,
  requireReadable,
} from "../kit/wallet-report.ts";
import {
  calledShape,
  moneySchema,
  monthBasis,
  pricesSchema,
  recommendationSchema,
  renderAdvice,
  renderMoney,
  renderPrices,
} from "../schemas/report-parts.ts";
import { addressParams, eip55Schema, fieldsOf, flag, int, toEip55, wholeSchema } from "../schemas/values.ts";

const gasSchema = wholeSchema.nullable().openapi({ description: "Units of gas, decimal", example: "250000" });

const METHOD = {
  percentiles:
    "Nearest rank over gas used by successful calls of the window: the smallest value that at least 95 % (50 %) of them do not exceed. Failures are left out, because they stop before all gas is used.",
  suggested_limit: `${LIMIT_FORMULA}. A refund of at most a fifth of the gas is paid back after the call, so a call may need 5/4 of what it used. By the most used and not by p95: a limit too low costs a call; gas that is not used is not paid, so a lower limit saves nothing.`,
  overpaid:
    "(price per gas paid - (base fee + median tip of the call's own block)) x gas used, 0 where negative, never more than the fee.",
  savings:
    "simulate_first: fees of reverted calls. raise_gas_limit: fees of calls that used up their limit. pay_market_price: overpaid by successful calls. No fee is in two of them, so together they never exceed what was spent. All are upper bounds: hindsight knows more than a sender.",
} as const;
const LIMIT_WORDS: Readonly<Record<LimitAdvice["state"], string>> = {
  fits: "The limit suits what the calls use.",
  generous: "The median limit is far above what 95 % of the calls use; lowering it saves no fee.",
  too_low: "Calls used up their limit, and no limit so far reaches the suggested one.",
  unknown: "No call with a limit of its own succeeded or ran out, so the gas needed is not known.",
};

const billShape = {
  calls: z.int().openapi({ example: 30 }),
  failures: z.int().openapi({ example: 3 }),
  spent: moneySchema,
  wasted: moneySchema.openapi({ description: "Fees of failed calls" }),
  overpaid: moneySchema.nullable().openapi({
    description:
      "Paid per gas above base fee plus median tip of the call's own block, including failed calls; null if the blocks are unknown",
  }),
  overpaid_known_calls: int("Calls with known base fee and median tip of their block", 30),
  saving: moneySchema.openapi({ description: "Over the window: sum of the savings" }),
  saving_per_month: moneySchema,
} as const;

const savingSchema = z
  .object({
    kind: z.enum(["simulate_first", "raise_gas_limit", "pay_market_price"]),
    calls: z.int().openapi({ example: 2 }),
    saving: moneySchema,
    saving_per_month: moneySchema,
    arithmetic: z.object({ eth: z.string(), usd: z.string().nullable() }).openapi({
      example: {
        eth: "2411368784000 wei x 30 / 30 days = 2411368784000 wei",
        usd: "7234 micro-USD x 30 / 30 days = 7234 micro-USD",
      },
    }),
  })
  .openapi("GasSaving", {
    description: "What would have cost less, at most; the kinds share no call's fee",
  });

const limitSchema = z.object({
  state: z.enum(["fits", "generous", "too_low", "unknown"]),
  samples: int("Successful calls, which the percentiles are of", 27),
  small_sample: flag("Fewer than 20: p95 is the maximum"),
  median_limit: gasSchema,
  highest_limit: gasSchema,
  p50_used: gasSchema,
  p95_used: gasSchema,
  max_used: gasSchema,
  median_limit_over_p95_used: z.number().nullable().openapi({ example: 1.388 }),
  highest_limit_that_ran_out: gasSchema,
  suggested_limit: gasSchema.openapi({ example: "312500" }),
  reason: z.string().openapi({ example: LIMIT_WORDS.fits }),
});

const methodSchema = z
  .object({
    ...calledShape,
    ...billShape,
    gas_limit: limitSchema,
    savings: z.array(savingSchema),
  })
  .openapi("MethodGas");

/** The answer of GET /optimize/{address}. */
export const optimizeSchema = z
  .object({
    address: eip55Schema,
    ...reportScopeShape,
    methods: z.array(methodSchema).openapi({ description: "The largest saving first, at most 500" }),
    other_methods: z
      .object({ methods: z.int(), ...billShape })
      .nullable()
      .openapi({ description: "Sums of the methods that are left out; null where none are", example: null }),
    totals: z
      .object({ methods: z.int(), ...billShape })
      .openapi({ description: "Exact sums of all methods, in wei" }),
    recommendations: z.array(recommendationSchema),
    method: z
      .object({
        percentiles: z.string(),
        suggested_limit: z.string(),
        overpaid: z.string(),
        month: z.string(),
        savings: z.string(),
      })
      .openapi({ example: { ...METHOD, month: monthBasis(30) } }),
    prices: pricesSchema,
  })
  .openapi("OptimizeReport");

type OptimizeAnswer = z.infer<typeof optimizeSchema>;

/** GET /optimize/{address}. */
export const getOptimize = definePaid({
  method: "get",
  path: "/optimize/{address}",
  price: 5000,
  tag: "Reports",
  summary: "Where a wallet's gas goes, and what could have been saved",
  description:
    "By contract and method: calls, failures, gas limits against the gas that 95 % of the successes used, what was paid above the base fee and median tip of each call's own block, and what all of it would save in a month, with its arithmetic. Totals are exact sums in wei. Amounts without receipt or feed are null, never 0.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: optimizeSchema, description: "The report" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  check: ({ params }, { deps, now }) => requireReadable(params.address, deps, now),
  async work({ params: { address } }, _prepared, { deps }): Promise<OptimizeAnswer> {
    const facts = gatherReportFacts(await readReport(address, deps), deps.policy);
    noteInterest(address, deps);
    return renderOptimization(facts, optimizeGas(facts));
  },
});

const MOST_METHODS = 500;
const MOST_RECOMMENDATIONS = 100;
/** The answer of GET /optimize/{address}. */
function renderOptimization(facts: ReportFacts, { methods, totals }: Optimization): OptimizeAnswer {
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

function renderMethod(
  method: Optimization["methods"][number],
  days: number,
): OptimizeAnswer["methods"][number] {
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
    ...fieldsOf(billShape, bill),
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
    ...fieldsOf(limitSchema.shape, limit),
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
