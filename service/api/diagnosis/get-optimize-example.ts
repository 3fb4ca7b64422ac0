import type { OptimizeAnswer } from "./get-optimize-schema.ts";

/** The answer of GET /optimize/{address} that OpenAPI shows. */
export const OPTIMIZE_EXAMPLE: OptimizeAnswer = {
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
