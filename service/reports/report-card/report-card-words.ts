import { shareWords, succeededWords } from "../../model/features/call-tally.ts";
import type { FeatureLine } from "../../model/score/record.ts";
import type { CardCounts } from "./report-card-counts.ts";

/** What people call the features of the model, and how they read their values. */
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

/** How people read what happened, of the features whose value alone would not tell it; null where it does. */
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

/** What people call the patterns, caps and effects of the model. */
const WORDS: Readonly<Record<string, string>> = {
  d1: "Wallet hygiene",
  d2: "Behavioural patterns",
  ahs: "Agent Health Score",
  self_dealing_ring: "Self-dealing ring",
};

/** A feature, a cap or a pattern by the name that people read: "Success rate". */
export function titleOf(name: string): string {
  const known = FEATURES[name]?.title ?? WORDS[name];
  if (known !== undefined) return known;
  return capitalised(name.replaceAll("_", " "));
}

/**
 * What a line of the explanation says, in a sentence without a full stop. Counts that are not of the calls that the line was
 * made from are not told, and what the model estimates is told as an estimate.
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
