import { z } from "@hono/zod-openapi";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { gatherReportFacts, type ReportFacts } from "../../reports/diagnosis/report-facts.ts";
import {
  type ReceivedFinding,
  summarizeWash,
  type Wash,
  type WashIssue,
  washWallet,
} from "../../reports/wash/wash.ts";
import type { Circle } from "../../reports/wash/wash-circles.ts";
import { LEAST_ACTIVITY, type WalletRating } from "../../reports/wash/wash-score.ts";
import type { WalletSnapshot } from "../../scores/stored-score.ts";

import { definePaid } from "../kit/endpoint.ts";
import type { PreviewNeeds, TransferNeeds } from "../kit/report-preview.ts";
import { previewQuery, previewReport, previewSchema } from "../kit/report-preview.ts";
import type { ReadableNeeds, ReportNeeds } from "../kit/wallet-report.ts";
import {
  ninetyDays,
  type ReportSource,
  readReport,
  reportScope,
  reportScopeShape,
  requireReadable,
} from "../kit/wallet-report.ts";
import { sanctionsFlagsSchema } from "../schemas/ahs-record.ts";
import {
  addressOrNull,
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
  count,
  eip55Schema,
  fieldsOf,
  flag,
  hashSchema,
  int,
  isoOf,
  isoSchema,
  num,
  severitySchema,
  share,
  text,
  toEip55,
  toUsd,
} from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = ReadableNeeds & ReportNeeds & TransferNeeds & PreviewNeeds;

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
    max_points: pointsSchema.openapi({ description: "Most that it takes", example: 10 }),
    found: num(
      "Findings; of portfolio_quality and self_dealing the share, 0 to 1; null where it is not known",
      0,
    ).nullable(),
    reason: text("The finding in words", "0 acquired tokens are worth less than 0.01 USD; 2 points each."),
  })
  .openapi("WashDeduction");

const issueSchema = z
  .object({
    category: z.string().openapi({ example: "received" }),
    severity: severitySchema,
    description: text(
      "What was found",
      "Others sent 1 unrecognised token to the wallet. This takes no points.",
    ),
    action: text(
      "What to do",
      "Do not approve, swap or claim these tokens: spam is sent to make wallets do so.",
    ),
    token: eip55Schema.nullable().openapi({ example: null }),
    account: eip55Schema
      .nullable()
      .openapi({ description: "The spender, delegate or counterparty", example: null }),
    value_usd: usdSchema.openapi({ example: null }),
    found: int("How many; null for a single one", 1).nullable(),
  })
  .openapi("WashIssue");

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

const receivedSchema = z
  .object({
    spam_tokens: z.int().openapi({ example: 1 }),
    dust_tokens: z.int(),
    transfers: z.int().openapi({ example: 3 }),
    truncated: flag("True where only the newest 20,000 transfers were read"),
    tokens: z.array(receivedTokenSchema).openapi({ description: "Most transfers first, at most 100" }),
    left_out: z.int(),
  })
  .openapi({
    description:
      "What transactions of others brought since the index follows the wallet. It takes no points, since any contract can log a transfer",
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
    summary: text("The result in two sentences", "Cleanliness 100 of 100. 1 note."),
    sanctions_flags: sanctionsFlagsSchema,
    cleanliness_score: pointsSchema.nullable().openapi({
      description: "100 less the points of all deductions; null with a reason. It is no grade of the wallet",
    }),
    cleanliness_reason: z
      .enum(["sanctioned", "not_scored", "failing", "little_activity", "not_read"])
      .nullable()
      .openapi({
        description: `Why there is no score. sanctioned: the wallet is on a sanctions list. not_scored: it has no Agent Health Score. failing: that is a D, E or F. little_activity: fewer than ${LEAST_ACTIVITY} own token movements and approvals. not_read: a deduction is not known`,
        example: null,
      }),
    cleanliness_range: z
      .object({ lowest: pointsSchema, highest: pointsSchema })
      .nullable()
      .openapi({ description: "Bounds of the score with unknown deductions; null for the other reasons" }),
    activity: count(
      "Own calls that moved a token or gave an approval, and open approvals; null if the approvals were not read",
      30,
    ).nullable(),
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
      circles: z.array(circleSchema).openapi({
        description:
          "Transfers that came back, most often first, at most 100: of any amount within 7 days from an account of the same owner, within 1% of the amount and 24 hours from another account without code. Each transfer counts once; longer circles are not found",
      }),
      truncated: z.boolean(),
    }),
    prices: pricesSchema,
  })
  .openapi("WashReport");

type WashAnswer = z.infer<typeof washSchema>;

/** POST /wash/{address}. */
export const postWash = definePaid<Needs>()({
  method: "post",
  path: "/wash/{address}",
  operationId: "scan_financial_health",
  tool: "Scans a wallet's tokens and approvals for spam, dust and risky allowances. Use it to find what should be revoked or ignored.",
  price: { units: 500 },
  tag: "Reports",
  summary: "Financial health scan",
  description:
    "Scans a wallet's own finances: dust, unrecognised tokens, approvals at risk, delegated code, self-dealing and circular transfers, and spam that others sent. The score is 100 less deductions that add up; only the wallet's own actions take points. A wallet that is sanctioned, failing or little known gets no score. Every issue has a severity and an action. Nothing is changed on chain, and the request has no body. `preview=true` answers a free preview.",
  request: { params: addressParams, query: previewQuery, body: null },
  answer: { schema: washSchema, description: "The report", preview: previewSchema },
  preview: previewReport,
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  check: ({ params }, { deps, now }) => requireReadable(params.address, deps, now),
  interestIn: ({ address }) => [address],
  async work({ params: { address } }, found, { deps }): Promise<WashAnswer> {
    const source = await readReport(address, deps);
    const [exchanged, drawnTokens] = await Promise.all([
      readExchanged(source, deps),
      deps.walletTransfers.drawnTokens(ninetyDays(address, source)),
    ]);
    const facts = gatherReportFacts(source, deps.policy);
    const rating = ratingOf(found);
    return renderWash(facts, washWallet(facts, { ...exchanged, drawnTokens, rating }), found.sanctions);
  },
});

/** Sanctions and current grade of a wallet, for its scan. */
export function ratingOf({ sanctions, score }: Pick<WalletSnapshot, "sanctions" | "score">): WalletRating {
  return { sanctioned: sanctions.length > 0, grade: score === null ? null : score.grade };
}

/** Exchanges and receipts of a wallet in the window of the report. */
export async function readExchanged(
  { rows, asOf }: ReportSource,
  { walletTransfers, policy }: Pick<Needs, "walletTransfers" | "policy">,
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
function renderWash(facts: ReportFacts, wash: Wash, sanctions: WalletSnapshot["sanctions"]): WashAnswer {
  const { cleanliness, issues } = wash;
  const { score, reason, range, activity, deductions } = cleanliness;
  return {
    address: toEip55(facts.rows.wallet),
    ...reportScope(facts, facts.policy.window.days),
    summary: summarizeWash(wash),
    sanctions_flags: [...sanctions],
    cleanliness_score: score,
    cleanliness_reason: reason,
    cleanliness_range: range,
    activity,
    deductions: deductions.map(({ maxPoints, ...deduction }) => ({ ...deduction, max_points: maxPoints })),
    issues: issues.slice(0, MOST_ISSUES).map(renderIssue),
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
    },
    prices: renderPrices(facts),
  };
}

function renderIssue({
  category,
  severity,
  description,
  action,
  token,
  account,
  microUsd,
  found,
}: WashIssue): WashAnswer["issues"][number] {
  return {
    category,
    severity,
    description,
    action,
    found,
    token: addressOrNull(token),
    account: addressOrNull(account),
    value_usd: toUsd(microUsd),
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
    transfers,
    truncated,
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
