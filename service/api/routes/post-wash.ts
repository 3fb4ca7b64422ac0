import { z } from "@hono/zod-openapi";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { gatherReportFacts, type ReportFacts } from "../../reports/diagnosis/report-facts.ts";
import { type ReceivedFinding, type Wash, type WashIssue, washWallet } from "../../reports/wash/wash.ts";

import type { Circle } from "../../reports/wash/wash-circles.ts";

import { definePaid } from "../kit/endpoint.ts";
import {
  ninetyDays,
  noteInterest,
  type ReportSource,
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
  usdSchema,
} from "../schemas/report-parts.ts";
import {
  addressParams,
  eip55Schema,
  fieldsOf,
  flag,
  hashSchema,
  isoOf,
  isoSchema,
  severitySchema,
  share,
  toEip55,
  toUsd,
} from "../schemas/values.ts";
import type { Services } from "../services.ts";

const pointsSchema = z.int().min(0).max(100).openapi({ example: 90 });

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
    points: pointsSchema
      .nullable()
      .openapi({ description: "Taken from 100; null where it is not known", example: 0 }),
    most: pointsSchema.openapi({ example: 10 }),
    reason: z.string().openapi({
      example:
        "recognised tokens that own calls brought in and that are worth less than a cent: 0; 2 points each",
    }),
  })
  .openapi("WashDeduction");

const issueSchema = z
  .object({
    category: z.string().openapi({ example: "received" }),
    severity: severitySchema,
    description: z.string().openapi({
      example:
        "Unrecognised tokens that others sent: 1. This is not the wallet's doing and takes nothing from the score.",
    }),
    action: z.string().openapi({
      example: "Do not approve, swap or claim them: touching them is what spam is for.",
    }),
  })
  .openapi("WashIssue");

const RECEIVED_NOTE =
  "What transactions of others brought since the index follows the wallet. Any contract can claim to have sent anything; none of it takes anything from the score.";
const CIRCLE_METHOD =
  "A transfer of native coin or an ERC-20 token that the wallet itself sent, and the next one of the same token from the same counterparty: of any amount within 7 days where it belongs to the same owner, within 1 % of the amount and 24 hours of any other account without code. Each transfer counts once. Longer circles are not seen.";

const receivedTokenSchema = z.object({
  token: eip55Schema.openapi({ description: "The zero address for native coin" }),
  symbol: z.string().nullable().openapi({ example: null }),
  standard: z.enum(["native", "erc20", "erc721", "erc1155"]).openapi({ example: "erc20" }),
  kind: z.enum(["spam", "dust", "gift"]),
  transfers: z.int().openapi({ example: 3 }),
  senders: z.int().openapi({ example: 1 }),
  amount: tokenAmountSchema.nullable(),
  value_usd: usdSchema.openapi({ example: null }),
  last_at: isoSchema,
});

const receivedSchema = z.object({
  spam_tokens: z.int().openapi({ example: 1 }),
  dust_tokens: z.int(),
  transfers: z.int().openapi({ example: 3 }),
  truncated: flag("True where only the newest 20,000 transfers were read"),
  note: z.string().openapi({ example: RECEIVED_NOTE }),
  tokens: z.array(receivedTokenSchema).openapi({ description: "Most transfers first, at most 100" }),
  left_out: z.int(),
});

const circleSchema = z.object({
  counterparty: eip55Schema,
  own: flag("Whether it belongs to the wallet's owner"),
  token: eip55Schema.openapi({ description: "The zero address for native coin" }),
  times: z.int().openapi({ example: 2 }),
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
    issues_by_severity: z
      .object({ critical: z.int(), warning: z.int(), info: z.int() })
      .openapi({ example: { critical: 0, warning: 0, info: 1 } }),
    portfolio: portfolioSchema,
    received: receivedSchema,
    ...approvalsShape,
    self_dealing: z.object({
      own_share: share(
        "Share of the weight of own calls that stays within the owner's accounts",
        0,
      ).nullable(),
      is_pattern: z.boolean(),
      circles: z.array(circleSchema).openapi({ description: "Most often first, at most 100" }),
      truncated: z.boolean(),
      method: z.string().openapi({ example: CIRCLE_METHOD }),
    }),
    prices: pricesSchema,
  })
  .openapi("WashReport");

type WashAnswer = z.infer<typeof washSchema>;

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
  answer: { schema: washSchema, description: "The report" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  check: ({ params }, { deps, now }) => requireReadable(params.address, deps, now),
  async work({ params: { address } }, _prepared, { deps }): Promise<WashAnswer> {
    const source = await readReport(address, deps);
    const [exchanged, drawnTokens] = await Promise.all([
      readExchanged(source, deps),
      deps.walletTransfers.drawnTokens(ninetyDays(address, source)),
    ]);
    noteInterest(address, deps);
    const facts = gatherReportFacts(source, deps.policy);
    return renderWash(facts, washWallet(facts, { ...exchanged, drawnTokens }));
  },
});

/** Exchanges and receipts of a wallet in the window of the report. */
export async function readExchanged(
  { rows, asOf }: ReportSource,
  { walletTransfers, policy }: Pick<Services, "walletTransfers" | "policy">,
) {
  const since = asOf.timestamp - policy.window.days * SECONDS_PER_DAY;
  const query = { wallet: rows.wallet, throughBlock: asOf.blockNumber, since };
  const [exchanges, received] = await Promise.all([
    walletTransfers.exchanges(query),
    walletTransfers.received(query),
  ]);
  return { exchanges, received };
}

const MOST_ROWS = 100;
const MOST_ISSUES = 200;

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
      critical: countOf(issues, "critical"),
      warning: countOf(issues, "warning"),
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
  return {
    ...fieldsOf(receivedTokenSchema.shape, found),
    token: toEip55(found.token),
    value_usd: toUsd(found.microUsd),
    last_at: isoOf(found.lastAt),
  };
}

function renderCircle(circle: Circle): WashAnswer["self_dealing"]["circles"][number] {
  const { peer, token, last } = circle;
  return {
    ...fieldsOf(circleSchema.shape, circle),
    counterparty: toEip55(peer),
    token: toEip55(token),
    last_out_tx: last.out.hash,
    last_back_tx: last.back.hash,
    last_at: isoOf(last.back.timestamp),
  };
}
