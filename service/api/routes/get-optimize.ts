import { z } from "@hono/zod-openapi";
import { adviseGas } from "../../reports/diagnosis/health-advice.ts";
import {
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
  PER_MONTH_DAYS,
  type ReportFacts,
  sumMoney,
} from "../../reports/diagnosis/report-facts.ts";
import type { KnownAccounts } from "../../reports/labels/chain-labels.ts";
import { countText, usdText } from "../../reports/phrases.ts";
import { definePaid } from "../kit/endpoint.ts";
import type { PreviewNeeds } from "../kit/report-preview.ts";
import { chargedSchema, previewQuery, previewReport, previewSchema } from "../kit/report-preview.ts";
import type { ReadableNeeds, ReportNeeds } from "../kit/wallet-report.ts";
import { readReport, reportScope, reportScopeShape, requireReadable } from "../kit/wallet-report.ts";
import type { AccountNeeds } from "../schemas/report-parts.ts";
import {
  calledShape,
  moneySchema,
  pricesSchema,
  recommendationSchema,
  renderAdvice,
  renderCalled,
  renderMoney,
  renderPrices,
  usdSchema,
} from "../schemas/report-parts.ts";
import {
  addressParams,
  eip55Schema,
  fieldsOf,
  flag,
  int,
  text,
  toEip55,
  toUsd,
  wholeSchema,
} from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = ReadableNeeds & ReportNeeds & PreviewNeeds & Pick<AccountNeeds, "knownAccounts">;

const gasSchema = wholeSchema.nullable().openapi({ description: "Units of gas, decimal", example: "250000" });

const LIMIT_WORDS: Readonly<Record<LimitAdvice["state"], string>> = {
  fits: "The gas limit suits the calls.",
  generous: "The median gas limit is far above the gas that 95% of the calls use. Lowering it saves no fee.",
  too_low: "Calls ran out of gas, and every limit so far is below the suggested one.",
  unknown: "No call with a gas limit of its own succeeded or ran out, so the needed gas is not known.",
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
  saving: moneySchema.openapi({ description: "Sum of the savings over the window" }),
  saves_usd_per_month: usdSchema.openapi({ description: "Their upper bound for 30 days", example: 0.24 }),
} as const;

const savingSchema = z
  .object({
    kind: z.enum(["simulate_first", "set_gas_limit", "pay_market_price"]).openapi({
      description:
        "simulate_first: fees of reverted calls. set_gas_limit: fees of calls that used up their limit. pay_market_price: what successful calls paid above the base fee plus the median tip of their block",
    }),
    calls: z.int().openapi({ example: 2 }),
    saving: moneySchema.openapi({ description: "Over the window" }),
    saves_usd_per_month: usdSchema.openapi({
      description: `The saving x ${PER_MONTH_DAYS} / window_days, rounded down`,
      example: 0.24,
    }),
  })
  .openapi("GasSaving", {
    description: "Upper bound of what would have cost less; the kinds share no fee",
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
  suggested_limit: gasSchema.openapi({ description: LIMIT_FORMULA, example: "312500" }),
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
    summary: text("The result in one or two sentences", "1 recommendation saves at most 0.24 USD a month."),
    charged: chargedSchema,
    recommendations: z
      .array(recommendationSchema)
      .openapi({ description: "The largest saving first, at most 100; none below 0.01 USD a month" }),
    smaller_savings: z.object({ count: z.int(), saves_usd_per_month: usdSchema }).openapi({
      description: "Savings below 0.01 USD a month each",
      example: { count: 0, saves_usd_per_month: 0 },
    }),
    window_days: int(
      `Days that monthly amounts are spread over: since the first call of the window, at least ${PER_MONTH_DAYS}`,
      30,
    ),
    methods: z.array(methodSchema).openapi({ description: "The largest saving first, at most 500" }),
    other_methods: z
      .object({ methods: z.int(), ...billShape })
      .nullable()
      .openapi({ description: "Sums of the methods that are left out; null where none are", example: null }),
    totals: z
      .object({ methods: z.int(), ...billShape })
      .openapi({ description: "Exact sums of all methods, in wei" }),
    prices: pricesSchema,
  })
  .openapi("OptimizeReport");

type OptimizeAnswer = z.infer<typeof optimizeSchema>;

/** GET /optimize/{address}. */
export const getOptimize = definePaid<Needs>()({
  method: "get",
  path: "/optimize/{address}",
  operationId: "optimize_gas",
  tool: "Reports what a wallet spends on gas, by method, and what it could have saved. Use it for a wallet that you operate and that spends noticeably on gas.",
  price: { units: 5000 },
  tag: "Reports",
  summary: "Operational efficiency report: where the gas of a wallet goes, and what it could save",
  description:
    "Recommendations with an upper bound of their saving, then the bill of each contract and method: calls, failures, gas limits against the gas that 95% of the successful calls used, and what was paid above the base fee and median tip of each call's own block. Methods with a single call give no recommendation. Totals are exact sums in wei; amounts without a receipt or price are null. If no recommendation saves money, nothing is charged. `preview=true` answers a free preview.",
  request: { params: addressParams, query: previewQuery, body: null },
  answer: { schema: optimizeSchema, description: "The report", preview: previewSchema },
  preview: previewReport,
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  check: ({ params }, { deps, now }) => requireReadable(params.address, deps, now),
  async prepare({ params: { address } }, _checked, { deps }) {
    const facts = gatherReportFacts(await readReport(address, deps), deps.policy);
    return { facts, known: deps.knownAccounts };
  },
  freeAnswer(_input, found) {
    const answer = renderOptimization(found, false);
    return answer.recommendations.every(({ saves_usd_per_month }) => saves_usd_per_month === 0)
      ? answer
      : null;
  },
  interestIn: ({ address }) => [address],
  work: (_input, found): OptimizeAnswer => renderOptimization(found, true),
});

const MOST_METHODS = 500;
const MOST_RECOMMENDATIONS = 100;
/** The answer of GET /optimize/{address}. */
function renderOptimization(
  { facts, known }: { readonly facts: ReportFacts; readonly known: KnownAccounts },
  charged: boolean,
): OptimizeAnswer {
  const { rows, paid, policy } = facts;
  const { methods, totals } = optimizeGas(facts);
  const { advice, smaller } = adviseGas(facts);
  const rest = methods.slice(MOST_METHODS);
  return {
    address: toEip55(rows.wallet),
    ...reportScope(facts, policy.window.days),
    summary: summarize({ advice, smaller, charged }),
    charged,
    recommendations: advice.slice(0, MOST_RECOMMENDATIONS).map((one) => renderAdvice(one, known)),
    smaller_savings: { count: smaller.count, saves_usd_per_month: toUsd(smaller.monthly.microUsd) },
    window_days: paid.days,
    methods: methods.slice(0, MOST_METHODS).map((method) => renderMethod(method, known)),
    other_methods: rest.length === 0 ? null : { methods: rest.length, ...renderBill(totalOf(rest)) },
    totals: { methods: methods.length, ...renderBill(totals) },
    prices: renderPrices(facts),
  };
}

function summarize({
  advice,
  smaller,
  charged,
}: ReturnType<typeof adviseGas> & { readonly charged: boolean }): string {
  const savings = advice.flatMap(({ saves }) => (saves === null || saves.wei === 0n ? [] : [saves]));
  const { microUsd } = sumMoney(savings);
  const worth = microUsd === null ? "an unknown amount" : `at most ${usdText(microUsd)}`;
  const first =
    savings.length === 0
      ? "No change would save 0.01 USD a month or more."
      : `${countText(savings.length, "recommendation saves", "recommendations save")} ${worth} a month.`;
  const small =
    smaller.count === 0
      ? ""
      : ` ${countText(smaller.count, "smaller saving is", "smaller savings are")} omitted.`;
  return `${first}${small}${charged ? "" : " Nothing was charged."}`;
}

function renderMethod(
  method: Optimization["methods"][number],
  known: KnownAccounts,
): OptimizeAnswer["methods"][number] {
  return {
    ...renderCalled(method, known),
    ...renderBill(method),
    gas_limit: renderLimit(method.limit),
    savings: method.savings.map(renderSaving),
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
    saves_usd_per_month: toUsd(bill.monthly.microUsd),
  };
}

function renderSaving({
  kind,
  calls,
  window,
  monthly,
}: Saving): OptimizeAnswer["methods"][number]["savings"][number] {
  return { kind, calls, saving: renderMoney(window), saves_usd_per_month: toUsd(monthly.microUsd) };
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
