import type { FeatureLine } from "../score/record.ts";

/** What people call the features of the model, and how they read their values. */
const FEATURES: Readonly<
  Record<string, { readonly title: string; readonly tell: (value: number, samples: number) => string }>
> = {
  success_rate: {
    title: "Success rate",
    tell: (value, samples) => `${percent(value)} of ${counted(samples, "call")} succeed by weight`,
  },
  gas_efficiency: {
    title: "Gas efficiency",
    tell: (value) => `${percent(value)} of the fees were burnt by failures`,
  },
  portfolio_quality: {
    title: "Portfolio quality",
    tell: (value) => `${percent(value)} of the value held is in recognised tokens`,
  },
  dust_and_spam: {
    title: "Dust and spam",
    tell: (value) => `${percent(value)} of the tokens held are dust or spam`,
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
    tell: (value) => `Runs of failures weigh ${percent(value)} of its activity`,
  },
  consistency: {
    title: "Consistency",
    tell: (value) => `Active in ${counted(value, "week")}`,
  },
};

/** What people call the patterns, caps and effects of the model. */
const WORDS: Readonly<Record<string, string>> = {
  d1: "Wallet hygiene",
  d2: "Behavioural patterns",
  ahs: "Agent Health Score",
};

/** A feature, a cap or a pattern by the name that people read: "Success rate". */
export function titleOf(name: string): string {
  const known = FEATURES[name]?.title ?? WORDS[name];
  if (known !== undefined) return known;
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What a line of the explanation says, in a sentence without a full stop. */
export function sentenceOf({ name, state, value, samples, reason }: FeatureLine): string {
  switch (state) {
    case "unknown":
      return reason === null ? "Not known" : `Not known: ${reason}`;
    case "not_applicable":
      return reason === null ? "Does not apply" : `Does not apply: ${reason}`;
    case "measured": {
      const tell = FEATURES[name]?.tell;
      if (value !== null && tell !== undefined) return tell(value, samples);
      return reason ?? (value === null ? "Measured" : `${signed(value)} points`);
    }
  }
}

/** Whether a line is a feature of a dimension, and no rounding, cap or effect. */
export function isFeature({ dimension, name }: FeatureLine): boolean {
  return dimension !== "AHS" && name in FEATURES;
}

function percent(share: number): string {
  return `${tenth(100 * share)} %`;
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
