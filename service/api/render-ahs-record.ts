import type { Address } from "viem";
import { gradeOf } from "../chain/oracle-codec.ts";
import type { SanctionsFlag } from "../features/types.ts";
import { gradeLabel } from "../score/grade.ts";
import type { ConfidenceLevel, Grade } from "../score/record.ts";
import { DEFAULT_ROUTING, type RoutingFacts, routeWallet } from "../score/route.ts";
import type { PublishedScore, ScoreTrend, StoredScore } from "../store/scores.ts";
import { toEip55 } from "./address-schema.ts";
import type { AhsRecord } from "./ahs-record-schema.ts";

const STALE_AFTER_MS = 24 * 3_600_000;
/** Fewer stored scores than this say nothing about a direction. */
const TREND_MIN_POINTS = 3;
const TREND_THRESHOLD_POINTS = 5;
const MICROS = 1_000_000;

export type AhsRecordParts = {
  readonly row: StoredScore;
  /** As of the newest indexed block, which may be newer than the row. */
  readonly sanctions: readonly SanctionsFlag[];
  readonly published: PublishedScore | null;
  readonly oracle: Address;
  readonly trend: ScoreTrend;
  readonly now: Date;
};

/** The record of GET /ahs/{address} without its optional parts; a listing newer than the row overrides the row. */
export function renderAhsRecord(parts: AhsRecordParts): AhsRecord {
  const { row, now } = parts;
  const verdict = verdictOf(row, parts.sanctions);
  return {
    address: toEip55(row.wallet),
    ahs_score: verdict.ahsScore,
    grade: verdict.grade,
    grade_label: gradeLabel(verdict.grade),
    d1_score: verdict.d1Score,
    d2_score: row.d2Score,
    d3_score: null,
    mode: "2D",
    sanctions_flags: [...verdict.flags],
    trust_routing: routeWallet(DEFAULT_ROUTING, routingFacts(row.wallet, verdict)).action,
    confidence: verdict.confidenceMicros / MICROS,
    confidence_level: verdict.confidenceLevel,
    patterns: [...row.patterns],
    trend: trendOf(parts.trend),
    timestamp: now.toISOString(),
    model_version: row.modelVersion,
    chain_id: row.chainId,
    as_of_block: row.asOfBlock,
    as_of_time: row.asOfTime.toISOString(),
    inputs_hash: row.inputsHash,
    coverage: {
      from_block: row.coverage.fromBlock,
      to_block: row.coverage.toBlock,
      complete: row.coverage.complete,
      sources: [...row.coverage.sources],
    },
    published: renderPublished(parts.published, parts.oracle),
    stale: isStale(row.asOfTime, now),
  };
}

/** Whether a score as of `asOfTime` is older than 24 hours. */
export function isStale(asOfTime: Date, now: Date): boolean {
  return now.getTime() - asOfTime.getTime() > STALE_AFTER_MS;
}

/** The direction of stored scores: beyond 5 points either way along their least-squares line; null below 3 points. */
export function trendOf({ points, change }: ScoreTrend): AhsRecord["trend"] {
  if (points < TREND_MIN_POINTS || change === null) return null;
  if (change > TREND_THRESHOLD_POINTS) return "improving";
  return change < -TREND_THRESHOLD_POINTS ? "declining" : "stable";
}

/** One entry of `history`. */
export function renderHistoryEntry(row: StoredScore): NonNullable<AhsRecord["history"]>[number] {
  return {
    ahs_score: row.ahsScore,
    grade: row.grade,
    d1_score: row.d1Score,
    d2_score: row.d2Score,
    confidence: row.confidenceMicros / MICROS,
    confidence_level: row.confidenceLevel,
    as_of_block: row.asOfBlock,
    as_of_time: row.asOfTime.toISOString(),
    model_version: row.modelVersion,
    inputs_hash: row.inputsHash,
  };
}

type Verdict = {
  readonly ahsScore: number | null;
  readonly d1Score: number | null;
  readonly grade: Grade | null;
  readonly confidenceMicros: number;
  readonly confidenceLevel: ConfidenceLevel;
  readonly flags: readonly SanctionsFlag[];
};

// Sanctions act at once, a score waits for its block to be final.
function verdictOf(row: StoredScore, sanctions: readonly SanctionsFlag[]): Verdict {
  if (row.sanctioned || sanctions.length === 0) return { ...row, flags: row.sanctionsFlags };
  return {
    ahsScore: 0,
    d1Score: 0,
    grade: "F",
    confidenceMicros: MICROS,
    confidenceLevel: "HIGH",
    flags: sanctions,
  };
}

function routingFacts(wallet: string, verdict: Verdict): RoutingFacts {
  const { grade, confidenceLevel } = verdict;
  return {
    wallet: wallet.toLowerCase() as Address,
    sanctioned: verdict.flags.length > 0,
    score: grade === null ? { kind: "insufficient" } : { kind: "scored", grade, confidenceLevel },
  };
}

function renderPublished(published: PublishedScore | null, oracle: Address): AhsRecord["published"] {
  if (published === null) return null;
  return {
    oracle: toEip55(oracle),
    ahs_score: published.ahsScore,
    grade: published.ahsScore === null ? null : gradeOf(published.ahsScore),
    as_of_block: published.asOfBlock,
    tx_hash: published.transactionHash,
    published_at: published.publishedAt.toISOString(),
  };
}
