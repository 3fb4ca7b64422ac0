import type { Policy } from "../model/score/policy-shape.ts";
import { type Grade, gradeOf } from "../model/score/record.ts";
import type { ScoreDistribution } from "../scores/ecosystem.ts";

const TENTHS = 10;

/**
 * Mid-rank percentile of a score, 0 to 100 to a tenth: the share of wallets with a lower score, plus half of those with
 * the same. Null if no wallet is scored.
 */
export function percentileOf(score: number, distribution: ScoreDistribution): number | null {
  let below = 0;
  let equal = 0;
  let total = 0;
  for (const entry of distribution) {
    total += entry.wallets;
    if (entry.score < score) below += entry.wallets;
    if (entry.score === score) equal += entry.wallets;
  }
  return total === 0 ? null : Math.round((1000 * (below + equal / 2)) / total) / 10;
}

/** One more than the wallets with a better score; null without a score. Equal scores share a rank. */
export function rankOf(score: number | null, distribution: ScoreDistribution): number | null {
  if (score === null) return null;
  return distribution.reduce((rank, one) => (one.score > score ? rank + one.wallets : rank), 1);
}

/** Compares a score, or its absence, with the distribution of all. */
export function benchmark(score: number | null, distribution: ScoreDistribution, grades: Policy["grades"]) {
  const byGrade: Record<Grade, number> = { A: 0, B: 0, C: 0, D: 0, E: 0, F: 0 };
  const tenths = Array.from({ length: TENTHS }, () => 0);
  let total = 0;
  let sum = 0;
  for (const entry of distribution) {
    total += entry.wallets;
    sum += entry.score * entry.wallets;
    byGrade[gradeOf(entry.score, grades)] += entry.wallets;
    const tenth = Math.min(TENTHS - 1, Math.floor(entry.score / TENTHS));
    tenths[tenth] = (tenths[tenth] ?? 0) + entry.wallets;
  }
  return {
    scoredWallets: total,
    percentile: score === null ? null : percentileOf(score, distribution),
    /** To a tenth; null where no wallet is scored. */
    averageScore: total === 0 ? null : Math.round((10 * sum) / total) / 10,
    grades: byGrade,
    /** Wallets by scores 0 to 9, 10 to 19, and so on; the last holds 90 to 100. */
    tenths,
  };
}
