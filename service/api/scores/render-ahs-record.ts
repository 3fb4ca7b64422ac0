import type { Address } from "viem";
import { gradeOf } from "../../chain/oracle-codec.ts";
import type { Coverage } from "../../model/features/types.ts";
import { gradeLabel } from "../../model/score/record.ts";
import { DEFAULT_ROUTING, type RoutingFacts, routeWallet } from "../../model/score/route.ts";
import type { PublishedScore, ScoreTrend, StoredScore } from "../../scores/scores.ts";
import { toEip55 } from "../address-schema.ts";
import type { AhsRecord } from "./ahs-record-schema.ts";

const STALE_AFTER_MS = 24 * 3_600_000;
/** Fewer stored scores than this say nothing about a direction. */
const TREND_MIN_POINTS = 3;
const TREND_THRESHOLD_POINTS = 5;
const MICROS = 1_000_000;

export type AhsRecordParts = {
  readonly row: StoredScore;
  readonly published: PublishedScore | null;
  readonly oracle: Address;
  readonly trend: ScoreTrend;
  readonly now: Date;
};

/** The record of GET /ahs/{address} without its optional parts. */
export function renderAhsRecord({ row, published, oracle, trend, now }: AhsRecordParts): AhsRecord {
  return {
    address: toEip55(row.wallet),
    ahs_score: row.ahsScore,
    grade: row.grade,
    grade_label: gradeLabel(row.grade),
    d1_score: row.d1Score,
    d2_score: row.d2Score,
    d3_score: null,
    mode: "2D",
    sanctions_flags: [...row.sanctionsFlags],
    trust_routing: routingOf(row),
    confidence: row.confidenceMicros / MICROS,
    confidence_level: row.confidenceLevel,
    patterns: [...row.patterns],
    trend: trendOf(trend),
    timestamp: now.toISOString(),
    model_version: row.modelVersion,
    chain_id: row.chainId,
    as_of_block: row.asOfBlock,
    as_of_time: row.asOfTime.toISOString(),
    inputs_hash: row.inputsHash,
    coverage: renderCoverage(row.coverage),
    published: renderPublished(published, oracle),
    stale: isStale(row.asOfTime, now),
  };
}

/** What rows cover, as answers show it. */
export function renderCoverage(coverage: Coverage): AhsRecord["coverage"] {
  const { fromBlock, toBlock, complete, sources, newestCallsOnly } = coverage;
  return {
    from_block: fromBlock,
    to_block: toBlock,
    complete,
    sources: [...sources],
    ...(newestCallsOnly === undefined ? {} : { newest_calls_only: newestCallsOnly }),
  };
}

/** The action of the default table for a stored score. */
export function routingOf(row: StoredScore): AhsRecord["trust_routing"] {
  return routeWallet(DEFAULT_ROUTING, routingFacts(row)).action;
}

/** Whether a score as of `asOfTime` is older than 24 hours. */
export function isStale(asOfTime: Date, now: Date): boolean {
  return now.getTime() - asOfTime.getTime() > STALE_AFTER_MS;
}

/** The direction of stored scores: beyond 5 points either way along their least-squares line; null below 3 points. */
function trendOf({ points, change }: ScoreTrend): AhsRecord["trend"] {
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

// Stored wallets are lower-case addresses.
function routingFacts({ wallet, sanctioned, grade, confidenceLevel }: StoredScore): RoutingFacts {
  return {
    wallet: wallet as Address,
    sanctioned,
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
