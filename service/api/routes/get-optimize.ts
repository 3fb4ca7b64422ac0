import { z } from "@hono/zod-openapi";
import type { Policy } from "../../model/score/policy-shape.ts";
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

import { definePaid } from "../kit/endpoint.ts";
import {
  noteInterest,
  type ReportPorts,
  readReport,
  reportScope,
  reportScopeShape,
  requireReadable,
} from "../kit/wallet-report.ts";
import {
  moneySchema,
  monthBasis,
  pricesSchema,
  recommendationSchema,
  renderAdvice,
  renderMoney,
  renderPrices,
} from "../schemas/report-parts.ts";
import { addressParams, eip55Schema, toEip55 } from "../schemas/values.ts";

const gasSchema = z.string().regex(/^\d+$/).nullable().openapi({ description: "Units of gas, decimal" });

const billShape = {
  calls: z.int(),
  failures: z.int(),
  spent: moneySchema,
  wasted: moneySchema.openapi({ description: "Fees of failed calls" }),
  overpaid: moneySchema.nullable().openapi({
    description:
      "Paid per gas above base fee plus median tip of the call's own block, including failed calls; null if the blocks are unknown",
  }),
  overpaid_known_calls: z
    .int()
    .openapi({ description: "Calls with known base fee and median tip of their block" }),
  saving: moneySchema.openapi({ description: "Over the window: sum of the savings" }),
  saving_per_month: moneySchema,
} as const;

const savingSchema = z
  .object({
    kind: z.enum(["simulate_first", "raise_gas_limit", "pay_market_price"]),
    calls: z.int(),
    saving: moneySchema,
    saving_per_month: moneySchema,
    arithmetic: z.object({ eth: z.string(), usd: z.string().nullable() }),
  })
  .openapi("GasSaving", {
    description: "What would have cost less, at most; the kinds share no call's fee",
  });

const methodSchema = z
  .object({
    contract: eip55Schema
      .nullable()
      .openapi({ description: "Null for contract creations and unknown targets" }),
    selector: z.string().nullable().openapi({ description: "Null for plain transfers" }),
    method: z.string().nullable().openapi({ description: "Usual signature of the selector" }),
    ...billShape,
    gas_limit: z.object({
      state: z.enum(["fits", "generous", "too_low", "unknown"]),
      samples: z.int().openapi({ description: "Successful calls, which the percentiles are of" }),
      small_sample: z.boolean().openapi({ description: "Fewer than 20: p95 is the maximum" }),
      median_limit: gasSchema,
      highest_limit: gasSchema,
      p50_used: gasSchema,
      p95_used: gasSchema,
      max_used: gasSchema,
      median_limit_over_p95_used: z.number().nullable(),
      highest_limit_that_ran_out: gasSchema,
      suggested_limit: gasSchema,
      reason: z.string(),
    }),
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
      .openapi({ description: "Sums of the methods that are left out; null where none are" }),
    totals: z
      .object({ methods: z.int(), ...billShape })
      .openapi({ description: "Exact sums of all methods, in wei" }),
    recommendations: z.array(recommendationSchema),
    method: z.object({
      percentiles: z.string(),
      suggested_limit: z.string(),
      overpaid: z.string(),
      month: z.string(),
      savings: z.string(),
    }),
    prices: pricesSchema,
  })
  .openapi("OptimizeReport");

type OptimizeAnswer = z.infer<typeof optimizeSchema>;

const OPTIMIZE_EXAMPLE: OptimizeAnswer = {
  address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  chain_id: 8453,
  as_of_block: 970,
  as_of_time: "2026-11-20T09:59:00.000Z",
  window: {
    from: "2026-05-24T09:59:00.000Z",
    to: "2026-11-20T09:59:00.000Z",
    days: 180,
  },
  coverage: {
    from_block: 1,
    to_block: 970,
    complete: true,
    sources: ["index"],
  },
  methods: [
    {
      contract: "0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1",
      selector: "0x3593564c",
      method: "execute(bytes,bytes[],uint256)",
      calls: 30,
      failures: 3,
      spent: {
        wei: "63480000000000",
        eth: "0.00006348",
        worth_usd: 0.19044,
      },
      wasted: {
        wei: "5160000000000",
        eth: "0.00000516",
        worth_usd: 0.01548,
      },
      overpaid: {
        wei: "10580000000000",
        eth: "0.00001058",
        worth_usd: 0.03174,
      },
      overpaid_known_calls: 30,
      saving: {
        wei: "14880000000000",
        eth: "0.00001488",
        worth_usd: 0.04464,
      },
      saving_per_month: {
        wei: "14880000000000",
        eth: "0.00001488",
        worth_usd: 0.04464,
      },
      gas_limit: {
        state: "too_low",
        samples: 27,
        small_sample: false,
        median_limit: "250000",
        highest_limit: "250000",
        p50_used: "180000",
        p95_used: "180000",
        max_used: "180000",
        median_limit_over_p95_used: 1.388,
        highest_limit_that_ran_out: "250000",
        suggested_limit: "312500",
        reason: "Calls used up their limit, and no limit so far reaches the suggested one.",
      },
      savings: [
        {
          kind: "simulate_first",
          calls: 2,
          saving: {
            wei: "2160000000000",
            eth: "0.00000216",
            worth_usd: 0.00648,
          },
          saving_per_month: {
            wei: "2160000000000",
            eth: "0.00000216",
            worth_usd: 0.00648,
          },
          arithmetic: {
            eth: "2160000000000 wei x 30 / 30 days = 2160000000000 wei",
            usd: "6480 micro-USD x 30 / 30 days = 6480 micro-USD",
          },
        },
        {
          kind: "raise_gas_limit",
          calls: 1,
          saving: {
            wei: "3000000000000",
            eth: "0.000003",
            worth_usd: 0.009,
          },
          saving_per_month: {
            wei: "3000000000000",
            eth: "0.000003",
            worth_usd: 0.009,
          },
          arithmetic: {
            eth: "3000000000000 wei x 30 / 30 days = 3000000000000 wei",
            usd: "9000 micro-USD x 30 / 30 days = 9000 micro-USD",
          },
        },
        {
          kind: "pay_market_price",
          calls: 27,
          saving: {
            wei: "9720000000000",
            eth: "0.00000972",
            worth_usd: 0.02916,
          },
          saving_per_month: {
            wei: "9720000000000",
            eth: "0.00000972",
            worth_usd: 0.02916,
          },
          arithmetic: {
            eth: "9720000000000 wei x 30 / 30 days = 9720000000000 wei",
            usd: "29160 micro-USD x 30 / 30 days = 29160 micro-USD",
          },
        },
      ],
    },
  ],
  other_methods: null,
  totals: {
    methods: 1,
    calls: 30,
    failures: 3,
    spent: {
      wei: "63480000000000",
      eth: "0.00006348",
      worth_usd: 0.19044,
    },
    wasted: {
      wei: "5160000000000",
      eth: "0.00000516",
      worth_usd: 0.01548,
    },
    overpaid: {
      wei: "10580000000000",
      eth: "0.00001058",
      worth_usd: 0.03174,
    },
    overpaid_known_calls: 30,
    saving: {
      wei: "14880000000000",
      eth: "0.00001488",
      worth_usd: 0.04464,
    },
    saving_per_month: {
      wei: "14880000000000",
      eth: "0.00001488",
      worth_usd: 0.04464,
    },
  },
  recommendations: [
    {
      kind: "pay_market_price",
      action:
        "Bid base fee plus the block's median tip for calls of execute(bytes,bytes[],uint256) at 0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1.",
      reason: "They paid more per gas than the blocks that they were mined in asked for.",
      evidence: "calls: 27; 9720000000000 wei in 30 days; x 30 / 30 = 9720000000000 wei a month",
      saves_usd_per_month: 0.02916,
      saves_eth_per_month: "0.00000972",
    },
    {
      kind: "raise_gas_limit",
      action:
        "Give calls of execute(bytes,bytes[],uint256) at 0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1 a gas limit of at least 312500, or of 5/4 of the node's estimate where that is more.",
      reason:
        "Calls used up their limit and failed; gas that is not used is not paid. Limit: ceil(1.25 x the most gas that a success used, or the highest limit that ran out, whichever is more).",
      evidence: "calls: 1; 3000000000000 wei in 30 days; x 30 / 30 = 3000000000000 wei a month",
      saves_usd_per_month: 0.009,
      saves_eth_per_month: "0.000003",
    },
    {
      kind: "simulate_first",
      action:
        "Simulate calls of execute(bytes,bytes[],uint256) at 0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1 right before sending and hold back what fails.",
      reason:
        "The fees of reverted calls bought nothing. Saved at most: a simulation cannot foresee every revert.",
      evidence: "calls: 2; 2160000000000 wei in 30 days; x 30 / 30 = 2160000000000 wei a month",
      saves_usd_per_month: 0.00648,
      saves_eth_per_month: "0.00000216",
    },
  ],
  method: {
    percentiles:
      "Nearest rank over gas used by successful calls of the window: the smallest value that at least 95 % (50 %) of them do not exceed. Failures are left out, as they tell no whole use.",
    suggested_limit:
      "ceil(1.25 x the most gas that a success used, or the highest limit that ran out, whichever is more). A refund of at most a fifth of the gas is paid back after the call, so a call may need 5/4 of what it used. By the most used and not by p95: a limit too low costs a call; gas that is not used is not paid, so a lower limit saves nothing.",
    overpaid:
      "(price per gas paid - (base fee + median tip of the call's own block)) x gas used, 0 where negative, never more than the fee.",
    savings:
      "simulate_first: fees of reverted calls. raise_gas_limit: fees of calls that used up their limit. pay_market_price: overpaid by successful calls. No fee is in two of them, so together they never exceed what was spent. All are upper bounds: hindsight knows more than a sender.",
    month:
      "Amount of the window x 30 / 30 days, rounded down; the days are those since the first call of the window, 30 at least.",
  },
  prices: {
    native_symbol: "ETH",
    native_usd: 3000,
    reason: null,
    basis:
      "Last feed answer before the UTC day of each call; each call is priced by itself and rounded to 1e-6 USD.",
  },
};

export type GetOptimizePorts = ReportPorts & { readonly policy: Policy };

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
  answer: { schema: optimizeSchema, example: OPTIMIZE_EXAMPLE, description: "The report" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  check: ({ params }, { deps, now }: { deps: GetOptimizePorts; now: Date }) =>
    requireReadable(params.address, deps, now),
  async work({ params: { address } }, _prepared, { deps }): Promise<OptimizeAnswer> {
    const facts = gatherReportFacts(await readReport(address, deps), deps.policy);
    noteInterest(address, deps);
    return renderOptimization(facts, optimizeGas(facts));
  },
});

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
