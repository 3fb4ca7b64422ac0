import { type CallTally, shareWords, succeededWords, tallyCalls } from "../model/features/call-tally.ts";
import { findFailures } from "../model/features/facts.ts";
import { createMarket } from "../model/features/market.ts";
import type { WalletRows } from "../model/features/types.ts";
import { weighCalls } from "../model/features/weigh-calls.ts";
import type { Policy } from "../model/score/policy-shape.ts";
import { type FeatureLine, type Grade, gradeOf } from "../model/score/record.ts";
import type { ScoreDistribution } from "../scores/ecosystem.ts";

/** Names of the model's features, and how to display their values. */
const FEATURES: Readonly<
  Record<string, { readonly title: string; readonly words: (value: number) => string }>
> = {
  success_rate: {
    title: "Success rate",
    words: (value) => `An estimated ${shareWords(value)} of its calls succeed`,
  },
  gas_efficiency: {
    title: "Gas efficiency",
    words: (value) => `An estimated ${shareWords(value)} of the fees burnt by failures`,
  },
  portfolio_quality: {
    title: "Portfolio quality",
    words: (value) => `${shareWords(value)} of the value held is in recognised tokens`,
  },
  dust_and_spam: {
    title: "Dust and spam",
    words: (value) => `${shareWords(value)} of the tokens held are dust or spam`,
  },
  risk_flags: {
    title: "Risk flags",
    words: (value) =>
      value === 0
        ? "No risky approval, delegation or listed counterparty"
        : `${Math.round(value)} of 100 points lost to approvals, delegations or listed counterparties`,
  },
  timing_regularity: {
    title: "Timing regularity",
    words: (value) => `Burstiness ${signed(value)}, from -1 even to 1 bursts`,
  },
  counterparty_diversity: {
    title: "Counterparty diversity",
    words: (value) => `As diverse as ${tenth(value)} equal counterparties`,
  },
  adaptation: {
    title: "Adaptation",
    words: (value) => `${Math.round(value)} of 100 for learning from what failed`,
  },
  failure_recovery: {
    title: "Failure recovery",
    words: (value) => `Estimated burden of failures ${signed(value)}, 0 being none`,
  },
  consistency: {
    title: "Consistency",
    words: (value) => `Active in ${counted(value, "week")}`,
  },
};

/** Counted facts for features whose value alone is hard to read; null if the value is enough. */
const COUNTED: Readonly<Record<string, (counts: CardCounts, value: number | null) => string | null>> = {
  success_rate: (counts) => `${succeededWords(counts)} succeeded`,
  gas_efficiency: ({ burnt }) =>
    burnt === null ? "No fees were paid" : `${shareWords(burnt)} of the fees were burnt by failures`,
  adaptation: ({ calls, succeeded }, points) => {
    if (succeeded < calls || points === null) return null;
    return points === 100
      ? "No failure to learn from"
      : `No failure; gas prices ${Math.round(points)} of 100`;
  },
  failure_recovery: ({ calls, succeeded, unrepaired }) => {
    const failed = calls - succeeded;
    if (failed === 0) return "No call failed";
    return `${counted(failed, "call")} failed, ${unrepaired === 0 ? "" : `${unrepaired} not `}made good since`;
  },
};

const WORDS: Readonly<Record<string, string>> = {
  d1: "Wallet hygiene",
  d2: "Behavioural patterns",
  ahs: "Agent Health Score",
  self_dealing_ring: "Self-dealing ring",
};

/** The display name of a feature, deduction or pattern: "Success rate". */
export function titleOf(name: string): string {
  return FEATURES[name]?.title ?? WORDS[name] ?? capitalised(name.replaceAll("_", " "));
}

/**
 * One sentence, without a full stop, for a line of the explanation. Counts appear only if they cover the same calls as
 * the line. Estimates of the model are marked as such.
 */
export function sentenceOf(
  { name, state, value, samples, reason }: FeatureLine,
  counts: CardCounts | null,
): string {
  switch (state) {
    case "unknown":
      return reason === null ? "Not known" : `Not known: ${reason}`;
    case "not_applicable":
      return reason === null ? "Does not apply" : `Does not apply: ${reason}`;
    case "measured": {
      const isCounted = counts !== null && counts.calls === samples;
      const fact = isCounted ? (COUNTED[name]?.(counts, value) ?? null) : null;
      if (fact !== null) return capitalised(fact);
      const words = FEATURES[name]?.words;
      if (value !== null && words !== undefined) return words(value);
      if (reason !== null) return capitalised(reason);
      return value === null ? "Measured" : `${signed(value)} points`;
    }
  }
}

/** Whether a line is a feature of a dimension, and no rounding and no deduction. */
export function isFeature({ dimension, name }: FeatureLine): boolean {
  return dimension !== "AHS" && name in FEATURES;
}

function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function tenth(value: number): string {
  return String(Math.round(10 * value) / 10);
}

function signed(value: number): string {
  return String(Math.round(100 * value) / 100);
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

export type CardCounts = CallTally & {
  /** Failures without a later success of the same call. */
  readonly unrepaired: number;
};

/** Counts the calls to others up to a block, in the model's window. */
export function countForCard(
  { rows, upToBlock }: { rows: WalletRows; upToBlock: number },
  policy: Policy,
): CardCounts {
  const calls = rows.calls.filter(({ blockNumber }) => blockNumber <= upToBlock);
  const history = weighCalls({ ...rows, calls }, createMarket(rows.tokens), policy);
  const unrepaired = findFailures(history).filter(({ recoveredAfter }) => recoveredAfter === null);
  return { ...tallyCalls(history.outside), unrepaired: unrepaired.length };
}

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
