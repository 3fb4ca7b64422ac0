import type { Address } from "viem";
import type { Policy } from "../../model/score/policy-shape.ts";
import { type FeatureLine, gradeLabel } from "../../model/score/record.ts";
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
import { isStale, renderCoverage, routingOf } from "../scores/render-ahs-record.ts";
import { isoOf, type ReportSource } from "../wallet-report.ts";
import type { ReportCard } from "./get-report-card-schema.ts";

const MICROS = 1_000_000;
const SECONDS_PER_DAY = 86_400;
/** Of the lines that say what a listing did to the score. */
const SANCTIONS = "sanctions";

export type ReportCardParts = {
  /** As answers show it. */
  readonly address: Address;
  readonly row: StoredScore;
  /** What the score was made from, or a little newer; null where it was not read. */
  readonly source: ReportSource | null;
  /** Oldest first. */
  readonly history: readonly DayScore[];
  readonly agents: readonly RegisteredAgent[];
  readonly distribution: ScoreDistribution;
  readonly policy: Policy;
  readonly now: Date;
};

/** A report card of a stored score. */
export function renderReportCard(parts: ReportCardParts): ReportCard {
  const { address, row, source, policy, now } = parts;
  const counts =
    source === null ? null : countForCard({ rows: source.rows, upToBlock: row.asOfBlock }, policy);
  return {
    address,
    name: nameOf(parts.agents),
    name_verified: false,
    ...scopeOf(row, policy.window.days),
    ahs_score: row.ahsScore,
    grade: row.grade,
    grade_label: gradeLabel(row.grade),
    trust_routing: routingOf(row),
    confidence: row.confidenceMicros / MICROS,
    confidence_level: row.confidenceLevel,
    sanctions_flags: [...row.sanctionsFlags],
    dimensions: [dimensionOf("D1", { row, counts, policy }), dimensionOf("D2", { row, counts, policy })],
    adjustments: adjustmentsOf(row),
    patterns: row.patterns.map((pattern) => ({ ...pattern, title: titleOf(pattern.name) })),
    benchmark: benchmarkOf(row, parts),
    history: parts.history.map(({ asOfTime, ahsScore, grade }) => ({
      as_of_time: asOfTime.toISOString(),
      ahs_score: ahsScore,
      grade,
    })),
    stale: isStale(row.asOfTime, now),
    model_version: row.modelVersion,
    timestamp: now.toISOString(),
  };
}

/** The first name that hides nothing and cannot be taken for another's. */
function nameOf(agents: readonly RegisteredAgent[]): string | null {
  const names = agents.flatMap(({ name }) =>
    name === null || isLookalikeName(name) ? [] : printableName(name),
  );
  return names.find((name) => name !== "") ?? null;
}

function scopeOf({ chainId, asOfBlock, asOfTime, coverage }: StoredScore, days: number) {
  const asOf = Math.floor(asOfTime.getTime() / 1000);
  return {
    chain_id: chainId,
    as_of_block: asOfBlock,
    as_of_time: isoOf(asOf),
    window: { from: isoOf(asOf - days * SECONDS_PER_DAY), to: isoOf(asOf), days },
    coverage: renderCoverage(coverage),
  };
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
  // What a listing takes from a dimension comes before what was measured.
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
 * What stands between the dimensions and the score. A listing is the only reason that counts: of a sanctioned wallet it stands
 * for all that caps and effects took together.
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

/** Of the lines of the whole score those that took something. */
function isAdjustment({ dimension, name, value }: FeatureLine): boolean {
  const isPart = name === "d1" || name === "d2" || name === "rounding";
  return dimension === "AHS" && !isPart && value !== null && value !== 0;
}

function benchmarkOf(row: StoredScore, { distribution, policy }: ReportCardParts): ReportCard["benchmark"] {
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
