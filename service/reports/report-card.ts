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
  Record<string, { readonly title: string; readonly tell: (value: number) => string }>
> = {
  success_rate: {
    title: "Success rate",
    tell: (value) => `An estimated ${shareWords(value)} of its calls succeed`,
  },
  gas_efficiency: {
    title: "Gas efficiency",
    tell: (value) => `An estimated ${shareWords(value)} of the fees burnt by failures`,
  },
  portfolio_quality: {
    title: "Portfolio quality",
    tell: (value) => `${shareWords(value)} of the value held is in recognised tokens`,
  },
  dust_and_spam: {
    title: "Dust and spam",
    tell: (value) => `${shareWords(value)} of the tokens held are dust or spam`,
  },
  risk_flags: {
    title: "Risk flags",
    tell: (value) =>
      value === 0
        ? "No risky approval, delegation or listed counterparty"
        : `${Math.round(value)} of 100 points lost to approvals, delegations or listed counterparties`,
  },
  timing_regularity: {
    title: "Timing regularity",
    tell: (value) => `Burstiness ${signed(value)}, from -1 even to 1 bursts`,
  },
  counterparty_diversity: {
    title: "Counterparty diversity",
    tell: (value) => `As diverse as ${tenth(value)} equal counterparties`,
  },
  adaptation: {
    title: "Adaptation",
    tell: (value) => `${Math.round(value)} of 100 for learning from what failed`,
  },
  failure_recovery: {
    title: "Failure recovery",
    tell: (value) => `Estimated burden of failures ${signed(value)}, 0 being none`,
  },
  consistency: {
    title: "Consistency",
    tell: (value) => `Active in ${counted(value, "week")}`,
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
  failure_recovery: ({ calls, succeeded, unmended }) => {
    const failed = calls - succeeded;
    if (failed === 0) return "No call failed";
    return `${counted(failed, "call")} failed, ${unmended === 0 ? "" : `${unmended} not `}made good since`;
  },
};

/** Names of the model's dimensions and patterns. */
const WORDS: Readonly<Record<string, string>> = {
  d1: "Wallet hygiene",
  d2: "Behavioural patterns",
  ahs: "Agent Health Score",
  self_dealing_ring: "Self-dealing ring",
};

/** The display name of a feature, cap or pattern: "Success rate". */
export function titleOf(name: string): string {
  const known = FEATURES[name]?.title ?? WORDS[name];
  if (known !== undefined) return known;
  return capitalised(name.replaceAll("_", " "));
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
      const told = isCounted ? (COUNTED[name]?.(counts, value) ?? null) : null;
      if (told !== null) return capitalised(told);
      const tell = FEATURES[name]?.tell;
      if (value !== null && tell !== undefined) return tell(value);
      if (reason !== null) return capitalised(reason);
      return value === null ? "Measured" : `${signed(value)} points`;
    }
  }
}

/** Whether a line is a feature of a dimension, and no rounding, cap or effect. */
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

/** Counted calls of a wallet, for the report card. */
export type CardCounts = CallTally & {
  /** Failures without a later success of the same call. */
  readonly unmended: number;
};

/** Counts the calls to others up to a block, in the model's window. */
export function countForCard(
  { rows, upToBlock }: { readonly rows: WalletRows; readonly upToBlock: number },
  policy: Policy,
): CardCounts {
  const calls = rows.calls.filter(({ blockNumber }) => blockNumber <= upToBlock);
  const history = weighCalls({ ...rows, calls }, createMarket(rows.tokens), policy);
  const unmended = findFailures(history).filter(({ recoveredAfter }) => recoveredAfter === null);
  return { ...tallyCalls(history.outside), unmended: unmended.length };
}

/** A score compared with those of all scored wallets. */
type Benchmark = {
  readonly scoredWallets: number;
  /** Null where no wallet is scored, or the wallet is not. */
  readonly percentile: number | null;
  /** To a tenth; null where no wallet is scored. */
  readonly averageScore: number | null;
  readonly grades: Readonly<Record<Grade, number>>;
  /** Wallets by scores 0 to 9, 10 to 19, and so on; the last holds 90 to 100. */
  readonly tenths: readonly number[];
};

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
export function benchmark(
  score: number | null,
  distribution: ScoreDistribution,
  grades: Policy["grades"],
): Benchmark {
  const byGrade = { A: 0, B: 0, C: 0, D: 0, E: 0, F: 0 };
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
    averageScore: total === 0 ? null : Math.round((10 * sum) / total) / 10,
    grades: byGrade,
    tenths,
  };
}
