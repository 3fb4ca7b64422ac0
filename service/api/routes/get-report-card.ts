import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { BoughtAnswer } from "../../access/access.ts";
import { unavailable } from "../../access/problems.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { RegisteredAgent } from "../../registries/documents/registered-agent.ts";
import { titleOf } from "../../reports/explain-score.ts";
import { isLookalikeName, printableName } from "../../reports/labels/chain-labels.ts";
import { benchmark, rankOf } from "../../reports/report-card.ts";
import type { ScoreDistribution } from "../../scores/ecosystem.ts";
import type { ScoreHistory } from "../../scores/score-history.ts";
import type { ScorePoint, StoredScore } from "../../scores/stored-score.ts";
import { defineSale } from "../kit/endpoint.ts";
import type { PaidWorkContext } from "../kit/endpoint-spec.ts";
import type { ScoringNeeds } from "../kit/score-record.ts";
import { scoredRow } from "../kit/score-record.ts";
import type { ScoredNeeds } from "../kit/wallet-report.ts";
import { requireKnown } from "../kit/wallet-report.ts";
import { viewOf } from "../report-card/card-view.ts";
import type { CardView } from "../report-card/draw-card.ts";
import type { CardFormat } from "../report-card/make-card.ts";
import { CardsOverloaded } from "../report-card/render-pool.ts";
import { renderScore } from "../schemas/ahs-record.ts";
import { renderExplanation } from "../schemas/explanation.ts";
import type { AccountNeeds } from "../schemas/report-parts.ts";
import { addressParams, isoOf, toEip55 } from "../schemas/values.ts";
import { type ReportCard, reportCardSchema } from "./get-report-card-schema.ts";

/** Services of the endpoint. */
type Needs = ScoredNeeds &
  Pick<ScoringNeeds, "scoreNow"> &
  Pick<AccountNeeds, "describeAccounts"> & {
    readonly chainName: string;
    readonly policy: Policy;
    readonly discovery: { readonly origin: string };
    readonly scoreHistory: Pick<ScoreHistory, "daily">;
    readonly scoreDistribution: () => Promise<ScoreDistribution>;
    readonly cards: {
      hasRoom(): boolean;
      render(view: CardView, format: CardFormat): Promise<string | Uint8Array>;
    };
  };

const FORMATS = ["json", "png", "svg"] as const;
const MEDIA_TYPES = { png: "image/png", svg: "image/svg+xml" } as const;
const RETRY_AFTER_SECONDS = 5;
/** Days with a score, as the schema says. */
const HISTORY_DAYS = 90;

const query = z.object({
  format: z.enum(FORMATS).default("json").openapi({ description: "json, or a picture of 1200 × 630 pixels" }),
});

/** GET /report-card/{address}. */
export const getReportCard = defineSale<Needs>()({
  method: "get",
  path: "/report-card/{address}",
  operationId: "draw_report_card",
  tool: "Draws the report card of a wallet as a picture, or returns its facts: score, dimensions and percentile among all scored wallets. Use it to show a score to a person.",
  price: { units: 2000 },
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
    await requireKnown(params.address, deps, now);
    if (query.format !== "json" && !deps.cards.hasRoom()) throw overloaded();
  },
  interestIn: ({ address }) => [address],
  async sell({ params: { address }, query: { format } }, _, sale) {
    const { deliver } = await sale.take({ settlement: "before" });
    const work = () => writeCard(address, sale);
    return format === "json" ? deliver(work) : deliver(work, (card) => draw(card, format, sale.deps));
  },
});

async function writeCard(
  address: Address,
  { deps, now, caller }: PaidWorkContext<Needs>,
): Promise<ReportCard> {
  const row = await scoredRow(address, deps.scoreNow, caller);
  const [history, distribution, details] = await Promise.all([
    deps.scoreHistory.daily(address, { before: null, limit: HISTORY_DAYS }),
    deps.scoreDistribution(),
    deps.describeAccounts([address]),
  ]);
  const agents = details.get(address)?.agents ?? [];
  const { policy, chainName, discovery } = deps;
  return renderReportCard({
    address: toEip55(address),
    row,
    history: history.points,
    agents,
    distribution,
    chainName,
    origin: discovery.origin,
    policy,
    now,
  });
}

async function draw(
  card: ReportCard,
  format: CardFormat,
  { cards, discovery }: Pick<Needs, "cards" | "discovery">,
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

/** The name of the adjustment that a listing causes. */
const SANCTIONS = "sanctions";

/** A report card of a stored score. */
function renderReportCard(parts: {
  readonly address: Address;
  readonly row: StoredScore;
  /** Newest first. */
  readonly history: readonly ScorePoint[];
  readonly agents: readonly RegisteredAgent[];
  readonly distribution: ScoreDistribution;
  readonly chainName: string;
  readonly origin: string;
  readonly policy: Policy;
  readonly now: Date;
}): ReportCard {
  const { address, row, policy, now } = parts;
  const { features, adjustments } = renderExplanation(row.features);
  return {
    address,
    name: nameOf(parts.agents),
    name_verified: false,
    ...renderScore(row, { policy, now }),
    chain_name: parts.chainName,
    verify_url: `${parts.origin}/wallet/${address}`,
    window: windowOf(row, policy.window.days),
    dimensions: (["D1", "D2"] as const).map((dimension) => ({
      dimension,
      title: titleOf(dimension.toLowerCase()),
      weight: policy.dimensionPercent[dimension] / 100,
      score: dimension === "D1" ? row.d1Score : row.d2Score,
      features: features.filter((feature) => feature.dimension === dimension),
    })),
    adjustments: adjustmentsOf(row, adjustments),
    patterns: row.patterns.map((pattern) => ({ ...pattern, title: titleOf(pattern.name) })),
    benchmark: benchmarkOf(row, parts),
    history: parts.history.toReversed().map(({ asOfTime, ahsScore, grade }) => ({
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

/** Adjustments other than roundings, with points; of a sanctioned wallet those of its listing alone, with the sum of all that it takes from the score. */
function adjustmentsOf(
  { sanctioned }: StoredScore,
  adjustments: ReportCard["adjustments"],
): ReportCard["adjustments"] {
  if (!sanctioned) return adjustments.filter(({ name, points }) => name !== "rounding" && points !== 0);
  const taken = adjustments.filter(({ dimension }) => dimension === "AHS");
  const hundredths = taken.reduce((sum, { points }) => sum + Math.round(100 * points), 0);
  return [
    ...adjustments.filter(({ dimension, name }) => dimension === "D1" && name === SANCTIONS),
    {
      dimension: "AHS",
      name: SANCTIONS,
      title: titleOf(SANCTIONS),
      points: hundredths / 100,
      says: "The wallet is on a sanctions list, which alone makes the score 0",
    },
  ];
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
    rank: row.sanctioned ? null : rankOf(row.ahsScore, distribution),
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
