import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { BoughtAnswer } from "../../access/access.ts";
import { unavailable } from "../../access/problems.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { FeatureLine } from "../../model/score/record.ts";
import type { RegisteredAgent } from "../../registries/documents/agent-names.ts";
import { isLookalikeName, printableName } from "../../reports/labels/chain-labels.ts";
import {
  benchmark,
  type CardCounts,
  countForCard,
  isFeature,
  sentenceOf,
  titleOf,
} from "../../reports/report-card.ts";
import type { ScoreDistribution } from "../../scores/ecosystem.ts";
import type { DayScore, StoredScore } from "../../scores/scores.ts";
import { definePaid } from "../kit/endpoint.ts";
import { scoredRow } from "../kit/score-record.ts";
import { noteInterest, type ReportSource, requireFollowed } from "../kit/wallet-report.ts";
import { viewOf } from "../report-card/card-view.ts";
import type { CardFormat } from "../report-card/make-card.ts";
import { CardsOverloaded } from "../report-card/render-pool.ts";
import { renderScore } from "../schemas/ahs-record.ts";
import { addressParams, isoOf, toEip55 } from "../schemas/values.ts";
import type { Services } from "../services.ts";
import { type ReportCard, reportCardSchema } from "./get-report-card-schema.ts";

const FORMATS = ["json", "png", "svg"] as const;
const MEDIA_TYPES = { png: "image/png", svg: "image/svg+xml" } as const;
const RETRY_AFTER_SECONDS = 5;

const query = z.object({
  format: z.enum(FORMATS).default("json").openapi({ description: "json, or a picture of 1200 × 630 pixels" }),
});

/** GET /report-card/{address}. */
export const getReportCard = definePaid({
  method: "get",
  path: "/report-card/{address}",
  operationId: "draw_report_card",
  tool: "Draws the report card of a wallet as a picture, or returns its facts: score, dimensions and percentile among all scored wallets. Use it to show a score to a person.",
  price: 2000,
  tag: "Scores",
  summary: "Visual report card of a wallet with benchmarks",
  description:
    "Scores the wallet as GET /ahs/{address} does and answers what the score is made of in words, its rank among all scored wallets of the chain, and its history. With `format=png` or `format=svg` the same as a picture, drawn for this answer alone and kept at no public address. A wallet without enough history is shown as that, without a rank.",
  request: { params: addressParams, query, body: null },
  answer: {
    schema: reportCardSchema,
    description: "The report card",
    renderings: Object.values(MEDIA_TYPES),
  },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable", "deadline-exceeded"],
  async check({ params, query }, { deps, now }) {
    await requireFollowed(params.address, deps, now);
    if (query.format !== "json" && !deps.cards.hasRoom()) throw overloaded();
  },
  async work({ params: { address } }, _, { deps, now }): Promise<ReportCard> {
    const row = await scoredRow(address, deps.scoreNow);
    const [source, history, distribution, details] = await Promise.all([
      deps.readWallet(address),
      deps.dailyScores(address),
      deps.scoreDistribution(),
      deps.describeAccounts([address]),
    ]);
    noteInterest(address, deps);
    const agents = details.get(address)?.agents ?? [];
    const { policy } = deps;
    return renderReportCard({
      ...{ address: toEip55(address), row, source, history },
      ...{ agents, distribution, policy, now },
    });
  },
  render(card, { query: { format } }, { deps }) {
    return format === "json" ? null : draw(card, format, deps);
  },
});

async function draw(
  card: ReportCard,
  format: CardFormat,
  { cards, discovery }: Pick<Services, "cards" | "discovery">,
): Promise<BoughtAnswer> {
  try {
    return {
      contentType: MEDIA_TYPES[format],
      body: await cards.render(viewOf(card, discovery.origin), format),
    };
  } catch (error) {
    if (error instanceof CardsOverloaded) throw overloaded(error);
    throw error;
  }
}

function overloaded(cause?: CardsOverloaded) {
  return unavailable("deadline-exceeded", "Too many report cards wait to be drawn.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The feature of score lines that a listing causes. */
const SANCTIONS = "sanctions";

/** A report card of a stored score. */
function renderReportCard(parts: {
  readonly address: Address;
  readonly row: StoredScore;
  /** Rows of the score, or slightly newer ones; null if they were not read. */
  readonly source: ReportSource | null;
  /** Oldest first. */
  readonly history: readonly DayScore[];
  readonly agents: readonly RegisteredAgent[];
  readonly distribution: ScoreDistribution;
  readonly policy: Policy;
  readonly now: Date;
}): ReportCard {
  const { address, row, source, policy, now } = parts;
  const counts =
    source === null ? null : countForCard({ rows: source.rows, upToBlock: row.asOfBlock }, policy);
  return {
    address,
    name: nameOf(parts.agents),
    name_verified: false,
    ...renderScore(row, now),
    window: windowOf(row, policy.window.days),
    dimensions: [dimensionOf("D1", { row, counts, policy }), dimensionOf("D2", { row, counts, policy })],
    adjustments: adjustmentsOf(row),
    patterns: row.patterns.map((pattern) => ({ ...pattern, title: titleOf(pattern.name) })),
    benchmark: benchmarkOf(row, parts),
    history: parts.history.map(({ asOfTime, ahsScore, grade }) => ({
      as_of_time: asOfTime.toISOString(),
      ahs_score: ahsScore,
      grade,
    })),
    timestamp: now.toISOString(),
  };
}

/** The first name without hidden characters that does not resemble a known name. */
function nameOf(agents: readonly RegisteredAgent[]): string | null {
  const names = agents.flatMap(({ name }) =>
    name === null || isLookalikeName(name) ? [] : printableName(name),
  );
  return names.find((name) => name !== "") ?? null;
}

function windowOf({ asOfTime }: StoredScore, days: number): ReportCard["window"] {
  const to = Math.floor(asOfTime.getTime() / 1000);
  return { from: isoOf(to - days * SECONDS_PER_DAY), to: isoOf(to), days };
}

function dimensionOf(
  dimension: "D1" | "D2",
  {
    row,
    counts,
    policy,
  }: { readonly row: StoredScore; readonly counts: CardCounts | null; readonly policy: Policy },
): ReportCard["dimensions"][number] {
  const own = row.features.filter((line) => line.dimension === dimension);
  // The effect of a listing on a dimension comes before measured features.
  const lines = [...own.filter(({ name }) => name === SANCTIONS), ...own.filter(isFeature)];
  return {
    dimension,
    title: titleOf(dimension.toLowerCase()),
    weight: policy.dimensionPercent[dimension] / 100,
    score: dimension === "D1" ? row.d1Score : row.d2Score,
    features: lines.map((line) => ({
      name: line.name,
      title: titleOf(line.name),
      says: sentenceOf(line, counts),
      score: line.score === null ? null : Math.round(10 * line.score) / 10,
      weight: line.weight,
      contribution: line.contribution === null ? null : line.contribution / 100,
    })),
  };
}

/**
 * Caps and effects between the dimensions and the score. For a sanctioned wallet one entry, the listing, carries the sum of them
 * all.
 */
function adjustmentsOf(row: StoredScore): ReportCard["adjustments"] {
  const lines = row.features.filter(isAdjustment);
  if (row.sanctionsFlags.length > 0) {
    const taken = lines.flatMap(({ contribution }) => (contribution === null ? [] : [contribution]));
    const points = taken.reduce((sum, hundredths) => sum + hundredths, 0) / 100;
    const reason = "the wallet is on a sanctions list, which alone makes the score 0";
    return [{ name: SANCTIONS, title: titleOf(SANCTIONS), points, reason }];
  }
  return lines.map(({ name, value, reason }) => ({
    name,
    title: titleOf(name),
    points: value === null ? 0 : value,
    reason,
  }));
}

/** Lines of the whole score that took points. */
function isAdjustment({ dimension, name, value }: FeatureLine): boolean {
  const isPart = name === "d1" || name === "d2" || name === "rounding";
  return dimension === "AHS" && !isPart && value !== null && value !== 0;
}

function benchmarkOf(
  row: StoredScore,
  { distribution, policy }: Parameters<typeof renderReportCard>[0],
): ReportCard["benchmark"] {
  const { scoredWallets, percentile, averageScore, grades, tenths } = benchmark(
    row.ahsScore,
    distribution,
    policy.grades,
  );
  return {
    scored_wallets: scoredWallets,
    percentile,
    average_score: averageScore,
    grade_distribution: { ...grades },
    score_distribution: tenths.map((wallets, tenth) => ({
      from: 10 * tenth,
      to: tenth === tenths.length - 1 ? 100 : 10 * tenth + 9,
      wallets,
    })),
  };
}
