import { z } from "@hono/zod-openapi";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { gatherReportFacts, type ReportFacts } from "../../reports/diagnosis/report-facts.ts";
import type { TransferReader } from "../../reports/profit-and-loss/wallet-transfers.ts";
import { type ReceivedFinding, type Wash, type WashIssue, washWallet } from "../../reports/wash/wash.ts";

import type { Circle } from "../../reports/wash/wash-circles.ts";

import { definePaid } from "../kit/endpoint.ts";
import {
  ninetyDays,
  noteInterest,
  type ReportPorts,
  readReport,
  reportScope,
  reportScopeShape,
  requireReadable,
} from "../kit/wallet-report.ts";
import {
  approvalsShape,
  portfolioSchema,
  pricesSchema,
  renderApprovals,
  renderPortfolio,
  renderPrices,
  tokenAmountSchema,
  toUsd,
  usdSchema,
} from "../schemas/report-parts.ts";
import { addressParams, eip55Schema, hashSchema, isoOf, isoSchema, toEip55 } from "../schemas/values.ts";

const pointsSchema = z.int().min(0).max(100);

const deductionSchema = z
  .object({
    name: z.enum([
      "dust",
      "unrecognised_tokens",
      "portfolio_quality",
      "approvals",
      "delegation",
      "self_dealing",
      "circular_transfers",
    ]),
    points: pointsSchema.nullable().openapi({ description: "Taken from 100; null where it is not known" }),
    most: pointsSchema,
    reason: z.string(),
  })
  .openapi("WashDeduction");

const issueSchema = z
  .object({
    category: z.string(),
    severity: z.enum(["high", "medium", "low", "info"]),
    description: z.string(),
    action: z.string(),
  })
  .openapi("WashIssue");

const receivedSchema = z.object({
  spam_tokens: z.int(),
  dust_tokens: z.int(),
  transfers: z.int(),
  truncated: z
    .boolean()
    .openapi({ description: "Of very many transfers only the newest 20,000 were looked at" }),
  note: z.string(),
  tokens: z
    .array(
      z.object({
        token: eip55Schema.openapi({ description: "The zero address for native coin" }),
        symbol: z.string().nullable(),
        standard: z.enum(["native", "erc20", "erc721", "erc1155"]),
        kind: z.enum(["spam", "dust", "gift"]),
        transfers: z.int(),
        senders: z.int(),
        amount: tokenAmountSchema.nullable(),
        worth_usd: usdSchema,
        last_at: isoSchema,
      }),
    )
    .openapi({ description: "Most transfers first, at most 100" }),
  left_out: z.int(),
});

const circleSchema = z.object({
  counterparty: eip55Schema,
  own: z.boolean().openapi({ description: "Whether it belongs to the wallet's owner" }),
  token: eip55Schema.openapi({ description: "The zero address for native coin" }),
  times: z.int(),
  amount: tokenAmountSchema,
  last_out_tx: hashSchema,
  last_back_tx: hashSchema,
  last_at: isoSchema,
});

/** The answer of POST /wash/{address}. */
export const washSchema = z
  .object({
    address: eip55Schema,
    ...reportScopeShape,
    cleanliness_score: pointsSchema.nullable().openapi({
      description:
        "100 less the points of all deductions; null where one of them is not known, or no own call is",
    }),
    cleanliness_range: z
      .object({ lowest: pointsSchema, highest: pointsSchema })
      .openapi({ description: "Between which the score lies, whatever is not known" }),
    cleanliness_grade: z
      .enum(["Spotless", "Clean", "Needs Attention", "Dirty", "Critical"])
      .nullable()
      .openapi({ description: "From 90, 70, 50, 30 and 0 points" }),
    deductions: z.array(deductionSchema),
    issues: z.array(issueSchema).openapi({ description: "The gravest first, at most 200" }),
    issues_by_severity: z.object({ high: z.int(), medium: z.int(), low: z.int(), info: z.int() }),
    portfolio: portfolioSchema,
    received: receivedSchema,
    ...approvalsShape,
    self_dealing: z.object({
      own_share: z
        .number()
        .min(0)
        .max(1)
        .nullable()
        .openapi({ description: "Share of the weight of own calls that stays within the owner's accounts" }),
      is_pattern: z.boolean(),
      circles: z.array(circleSchema).openapi({ description: "Most often first, at most 100" }),
      truncated: z.boolean(),
      method: z.string(),
    }),
    prices: pricesSchema,
  })
  .openapi("WashReport");

type WashAnswer = z.infer<typeof washSchema>;

const WASH_EXAMPLE: WashAnswer = {
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

export type PostWashPorts = ReportPorts & {
  readonly walletTransfers: TransferReader;
  readonly policy: Policy;
};

/** POST /wash/{address}. */
export const postWash = definePaid({
  method: "post",
  path: "/wash/{address}",
  price: 500,
  tag: "Reports",
  summary: "Cleanliness of a wallet",
  description:
    "Looks for dust, spam, unrecognised tokens, approvals at risk, delegated code, self-dealing and circular transfers, and makes a score of 0 to 100 whose deductions are shown and add up. Only the wallet's own actions take points: tokens that others send are listed and take none. Every issue has a severity and an action. Nothing is changed on chain; the request has no body.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: washSchema, example: WASH_EXAMPLE, description: "The report" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  check: ({ params }, { deps, now }: { deps: PostWashPorts; now: Date }) =>
    requireReadable(params.address, deps, now),
  async work({ params: { address } }, _prepared, { deps }): Promise<WashAnswer> {
    const source = await readReport(address, deps);
    const { timestamp, blockNumber } = source.asOf;
    const since = timestamp - deps.policy.window.days * SECONDS_PER_DAY;
    const query = { wallet: address, throughBlock: blockNumber, since };
    const { walletTransfers } = deps;
    const [exchanges, received, drawnTokens] = await Promise.all([
      walletTransfers.exchanges(query),
      walletTransfers.received(query),
      walletTransfers.drawnTokens(ninetyDays(address, source)),
    ]);
    noteInterest(address, deps);
    const facts = gatherReportFacts(source, deps.policy);
    return renderWash(facts, washWallet(facts, { exchanges, received, drawnTokens }));
  },
});

const MOST_ROWS = 100;
const MOST_ISSUES = 200;
const RECEIVED_NOTE =
  "What transactions of others brought since the index follows the wallet. Any contract can claim to have sent anything; none of it takes anything from the score.";
const CIRCLE_METHOD =
  "A transfer of native coin or an ERC-20 token that the wallet itself sent, and the next one of the same token from the same counterparty: of any amount within 7 days where it belongs to the same owner, within 1 % of the amount and 24 hours of any other account without code. Each transfer counts once. Longer circles are not seen.";

/** The answer of POST /wash/{address}. */
function renderWash(facts: ReportFacts, wash: Wash): WashAnswer {
  const { cleanliness, issues } = wash;
  const { score, lowest, highest, grade, deductions } = cleanliness;
  return {
    address: toEip55(facts.rows.wallet),
    ...reportScope(facts, facts.policy.window.days),
    cleanliness_score: score,
    cleanliness_range: { lowest, highest },
    cleanliness_grade: grade,
    deductions: [...deductions],
    issues: issues.slice(0, MOST_ISSUES),
    issues_by_severity: {
      high: countOf(issues, "high"),
      medium: countOf(issues, "medium"),
      low: countOf(issues, "low"),
      info: countOf(issues, "info"),
    },
    portfolio: renderPortfolio(wash.portfolio),
    received: renderReceived(wash.received),
    ...renderApprovals(wash.approvals),
    self_dealing: {
      own_share: wash.selfDealing.share,
      is_pattern: wash.selfDealing.isPattern,
      circles: wash.selfDealing.circles.slice(0, MOST_ROWS).map(renderCircle),
      truncated: wash.selfDealing.truncated,
      method: CIRCLE_METHOD,
    },
    prices: renderPrices(facts),
  };
}

function countOf(issues: readonly WashIssue[], severity: WashIssue["severity"]): number {
  return issues.filter((issue) => issue.severity === severity).length;
}

function renderReceived(received: Wash["received"]): WashAnswer["received"] {
  const { tokens, spamTokens, dustTokens, transfers, truncated } = received;
  return {
    spam_tokens: spamTokens,
    dust_tokens: dustTokens,
    ...{ transfers, truncated },
    note: RECEIVED_NOTE,
    tokens: tokens.slice(0, MOST_ROWS).map(renderReceivedToken),
    left_out: Math.max(0, tokens.length - MOST_ROWS),
  };
}

function renderReceivedToken(found: ReceivedFinding): WashAnswer["received"]["tokens"][number] {
  const { token, symbol, standard, kind, transfers, senders, amount, microUsd, lastAt } = found;
  return {
    token: toEip55(token),
    ...{ symbol, standard, kind, transfers, senders },
    amount: amount === null ? null : String(amount),
    worth_usd: toUsd(microUsd),
    last_at: isoOf(lastAt),
  };
}

function renderCircle({
  peer,
  own,
  token,
  times,
  amount,
  last,
}: Circle): WashAnswer["self_dealing"]["circles"][number] {
  return {
    counterparty: toEip55(peer),
    own,
    token: toEip55(token),
    times,
    amount: String(amount),
    last_out_tx: last.out.hash,
    last_back_tx: last.back.hash,
    last_at: isoOf(last.back.timestamp),
  };
}
