import type { WashAnswer } from "./post-wash-schema.ts";

/** The answer of POST /wash/{address} that OpenAPI shows. */
export const WASH_EXAMPLE: WashAnswer = {
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
  cleanliness_score: 90,
  cleanliness_range: {
    lowest: 90,
    highest: 90,
  },
  cleanliness_grade: "Spotless",
  deductions: [
    {
      name: "dust",
      points: 0,
      most: 10,
      reason:
        "recognised tokens that own calls brought in and that are worth less than a cent: 0; 2 points each",
    },
    {
      name: "unrecognised_tokens",
      points: 0,
      most: 15,
      reason:
        "tokens that own calls brought in and that are neither listed nor known to be used by others: 0; 3 points each",
    },
    {
      name: "portfolio_quality",
      points: 0,
      most: 15,
      reason: "100 % of the worth that own calls brought in is in recognised tokens; 15 points for none",
    },
    {
      name: "approvals",
      points: 10,
      most: 30,
      reason:
        "unlimited approvals at risk: 1; points by the gravest risk of each: flagged 20, no_code 15, young 10, unknown 10, unused 3",
    },
    {
      name: "delegation",
      points: 0,
      most: 10,
      reason: "the wallet runs nobody's code",
    },
    {
      name: "self_dealing",
      points: 0,
      most: 10,
      reason: "0 % of the weight of own calls stays within the owner's accounts",
    },
    {
      name: "circular_transfers",
      points: 0,
      most: 10,
      reason: "transfers to accounts of the same owner that came back within 7 days: 0; 2 points each",
    },
  ],
  issues: [
    {
      category: "approvals",
      severity: "high",
      description:
        "The spender is not shown to have existed 30 days before the approval; has fewer than three known independent users and stands on no list.",
      action:
        "Take back the unlimited approval of 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 to 0x5be4dE45bE4DE45be4de45be4De45Be4de45bE4d.",
    },
    {
      category: "received",
      severity: "info",
      description:
        "Unrecognised tokens that others sent: 1. This is not the wallet's doing and takes nothing from the score.",
      action: "Do not approve, swap or claim them: touching them is what spam is for.",
    },
  ],
  issues_by_severity: {
    high: 1,
    medium: 0,
    low: 0,
    info: 1,
  },
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
  received: {
    spam_tokens: 1,
    dust_tokens: 0,
    transfers: 3,
    truncated: false,
    note: "What transactions of others brought since the index follows the wallet. Any contract can claim to have sent anything; none of it takes anything from the score.",
    tokens: [
      {
        token: "0x0000000000000000000000000000000000000Bad",
        symbol: null,
        standard: "erc20",
        kind: "spam",
        transfers: 3,
        senders: 1,
        amount: "1000000000000000000000",
        worth_usd: null,
        last_at: "2026-10-26T09:59:00.000Z",
      },
    ],
    left_out: 0,
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
  self_dealing: {
    own_share: 0,
    is_pattern: false,
    circles: [],
    truncated: false,
    method:
      "A transfer of native coin or an ERC-20 token that the wallet itself sent, and the next one of the same token from the same counterparty: of any amount within 7 days where it belongs to the same owner, within 1 % of the amount and 24 hours of any other account without code. Each transfer counts once. Longer circles are not seen.",
  },
  prices: {
    native_symbol: "ETH",
    native_usd: 3000,
    reason: null,
    basis:
      "Last feed answer before the UTC day of each call; each call is priced by itself and rounded to 1e-6 USD.",
  },
};
