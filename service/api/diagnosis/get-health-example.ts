import type { HealthAnswer } from "./get-health-schema.ts";

/** The answer of GET /health/{address} that OpenAPI shows. */
export const HEALTH_EXAMPLE: HealthAnswer = {
  address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  account: {
    kind: "eoa",
    is_contract: false,
    delegates_to: null,
    note: null,
  },
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
  totals: {
    calls: 30,
    successes: 27,
    failures: 3,
    success_rate: 0.9,
    unread_receipts: 0,
  },
  first_seen: {
    block: 100,
    time: "2026-10-21T09:59:00.000Z",
    tx_hash: "0x0000000000000000000000000000000000000000000000000000000000000001",
  },
  last_seen: {
    block: 129,
    time: "2026-11-19T09:59:00.000Z",
    tx_hash: "0x000000000000000000000000000000000000000000000000000000000000001e",
  },
  gas: {
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
    wasted_share: 0.081285,
    spent_per_month: {
      wei: "63480000000000",
      eth: "0.00006348",
      worth_usd: 0.19044,
    },
    wasted_per_month: {
      wei: "5160000000000",
      eth: "0.00000516",
      worth_usd: 0.01548,
    },
    month_basis:
      "Amount of the window x 30 / 30 days, rounded down; the days are those since the first call of the window, 30 at least.",
  },
  failures: {
    out_of_gas: {
      failures: 1,
      wasted: {
        wei: "3000000000000",
        eth: "0.000003",
        worth_usd: 0.009,
      },
    },
    reverted: {
      failures: 2,
      wasted: {
        wei: "2160000000000",
        eth: "0.00000216",
        worth_usd: 0.00648,
      },
    },
    revert_reasons: null,
    note: "out_of_gas: gas used reached 98 % of the limit; code that gives up all its gas on purpose looks the same. reverted: any other failure. Receipts hold no revert reason, so none is stored and none is guessed.",
    by_method: [
      {
        contract: "0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1",
        selector: "0x3593564c",
        method: "execute(bytes,bytes[],uint256)",
        cause: "out_of_gas",
        failures: 1,
        attempts: 30,
        wasted: {
          wei: "3000000000000",
          eth: "0.000003",
          worth_usd: 0.009,
        },
        first_at: "2026-11-10T09:59:00.000Z",
        last_at: "2026-11-10T09:59:00.000Z",
        last_tx_hash: "0x0000000000000000000000000000000000000000000000000000000000000015",
        longest_run: 1,
        succeeded_since: true,
      },
      {
        contract: "0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1",
        selector: "0x3593564c",
        method: "execute(bytes,bytes[],uint256)",
        cause: "reverted",
        failures: 2,
        attempts: 30,
        wasted: {
          wei: "2160000000000",
          eth: "0.00000216",
          worth_usd: 0.00648,
        },
        first_at: "2026-10-31T09:59:00.000Z",
        last_at: "2026-11-02T09:59:00.000Z",
        last_tx_hash: "0x000000000000000000000000000000000000000000000000000000000000000d",
        longest_run: 1,
        succeeded_since: true,
      },
    ],
    left_out: 0,
  },
  activity_by_week: [
    {
      week: "2026-11-09",
      calls: 7,
      failures: 1,
      spent: {
        wei: "15960000000000",
        eth: "0.00001596",
        worth_usd: 0.04788,
      },
    },
    {
      week: "2026-11-16",
      calls: 4,
      failures: 0,
      spent: {
        wei: "8640000000000",
        eth: "0.00000864",
        worth_usd: 0.02592,
      },
    },
  ],
  portfolio: {
    state: "held",
    basis:
      "What the wallet's own calls of the 180 days before its last one brought in, less what they took out. What others sent, what was held before, and the balance of the native coin are not in it. Worth: the daily feed price on the day of the last own call, or what the wallet itself gave for the token; the total is of recognised tokens with a feed price alone.",
    reason: null,
    total_usd: 108,
    other_usd: null,
    unpriced_tokens: 0,
    holdings: [
      {
        symbol: "USDC",
        decimals: 6,
        recognised: true,
        token: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        amount: "108000000",
        worth_usd: 108,
        priced_by: "feed",
      },
    ],
  },
  open_approvals: [
    {
      token: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      spender: "0x5be4dE45bE4DE45be4de45be4De45Be4de45bE4d",
      kind: "amount",
      approved_at: "2026-10-24T09:59:00.000Z",
      last_used_at: null,
      use_known: true,
      spender_facts: {
        is_contract: true,
        existed_at: "2026-10-22T09:59:00.000Z",
        outside_users: 1,
        flag: null,
        own: false,
      },
      risks: ["young", "unknown"],
    },
  ],
  open_approvals_reason: null,
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
    {
      kind: "revoke_approval",
      action:
        "Take back the unlimited approval of 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 to 0x5be4dE45bE4DE45be4de45be4De45Be4de45bE4d.",
      reason:
        "The spender is not shown to have existed 30 days before the approval; has fewer than three known independent users and stands on no list.",
      evidence: "kind amount, given at 2026-10-24T09:59:00.000Z, no use known",
      saves_usd_per_month: null,
      saves_eth_per_month: null,
    },
  ],
  prices: {
    native_symbol: "ETH",
    native_usd: 3000,
    reason: null,
    basis:
      "Last feed answer before the UTC day of each call; each call is priced by itself and rounded to 1e-6 USD.",
  },
};
