import type { Address } from "viem";
import { benchmark } from "../../diagnose/report-card-benchmark.ts";
import { isFeature, sentenceOf, titleOf } from "../../diagnose/report-card-words.ts";
import { printableName } from "../../labels/printable-name.ts";
import { gradeLabel } from "../../score/grade.ts";
import type { Policy } from "../../score/policy-shape.ts";
import type { FeatureLine } from "../../score/record.ts";
import type { RegisteredAgent } from "../../store/agent-names.ts";
import type { ScoreDistribution } from "../../store/score-distribution.ts";
import type { StoredScore } from "../../store/scores.ts";
import { isStale, routingOf } from "../scores/render-ahs-record.ts";
import { isoOf } from "../wallet-report.ts";
import type { ReportCard } from "./get-report-card-schema.ts";

const MICROS = 1_000_000;
const SECONDS_PER_DAY = 86_400;
const MAX_HISTORY = 90;

export type ReportCardParts = {
  /** As answers show it. */
  readonly address: Address;
  readonly row: StoredScore;
  /** Newest first. */
  readonly history: readonly StoredScore[];
  readonly agents: readonly RegisteredAgent[];
  readonly distribution: ScoreDistribution;
  readonly policy: Policy;
  readonly now: Date;
};

/** A report card of a stored score. */
export function renderReportCard(parts: ReportCardParts): ReportCard {
  const { address, row, policy, now } = parts;
  return {
    address,
    name: nameOf(parts.agents),
    ...scopeOf(row, policy.window.days),
    ahs_score: row.ahsScore,
    grade: row.grade,
    grade_label: gradeLabel(row.grade),
    trust_routing: routingOf(row),
    confidence: row.confidenceMicros / MICROS,
    confidence_level: row.confidenceLevel,
    sanctions_flags: [...row.sanctionsFlags],
    dimensions: [dimensionOf("D1", row, policy), dimensionOf("D2", row, policy)],
    adjustments: row.features.filter(isAdjustment).map(({ name, value, reason }) => ({
      name,
      title: titleOf(name),
      points: value === null ? 0 : value,
      reason,
    })),
    patterns: row.patterns.map((pattern) => ({ ...pattern, title: titleOf(pattern.name) })),
    benchmark: benchmarkOf(row, parts),
    history: historyOf(parts.history),
    stale: isStale(row.asOfTime, now),
    model_version: row.modelVersion,
    timestamp: now.toISOString(),
  };
}

function nameOf(agents: readonly RegisteredAgent[]): string | null {
  const names = agents.flatMap(({ name }) => (name === null ? [] : printableName(name)));
  return names.find((name) => name !== "") ?? null;
}

function scopeOf({ chainId, asOfBlock, asOfTime, coverage }: StoredScore, days: number) {
  const asOf = Math.floor(asOfTime.getTime() / 1000);
  return {
    chain_id: chainId,
    as_of_block: asOfBlock,
    as_of_time: isoOf(asOf),
    window: { from: isoOf(asOf - days * SECONDS_PER_DAY), to: isoOf(asOf), days },
    coverage: {
      from_block: coverage.fromBlock,
      to_block: coverage.toBlock,
      complete: coverage.complete,
      sources: [...coverage.sources],
    },
  };
}

function dimensionOf(
  dimension: "D1" | "D2",
  row: StoredScore,
  policy: Policy,
): ReportCard["dimensions"][number] {
  const lines = row.features.filter((line) => line.dimension === dimension && isFeature(line));
  return {
    dimension,
    title: titleOf(dimension.toLowerCase()),
    weight: policy.dimensionPercent[dimension] / 100,
    score: dimension === "D1" ? row.d1Score : row.d2Score,
    features: lines.map((line) => ({
      name: line.name,
      title: titleOf(line.name),
      says: sentenceOf(line),
      score: line.score === null ? null : Math.round(10 * line.score) / 10,
      weight: line.weight,
      contribution: line.contribution === null ? null : line.contribution / 100,
    })),
  };
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

/** The newest score of each UTC day, oldest first. */
function historyOf(newestFirst: readonly StoredScore[]): ReportCard["history"] {
  const days = new Map<string, ReportCard["history"][number]>();
  for (const { asOfTime, ahsScore, grade } of newestFirst) {
    const time = asOfTime.toISOString();
    const day = time.slice(0, "2026-11-20".length);
    if (!days.has(day)) days.set(day, { as_of_time: time, ahs_score: ahsScore, grade });
  }
  return [...days.values()].slice(0, MAX_HISTORY).reverse();
}
