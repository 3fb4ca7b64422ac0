import { shareWords } from "../model/features/call-tally.ts";
import type { Policy } from "../model/score/policy-shape.ts";
import type { FeatureInputs, FeatureLine, Grade, Pattern } from "../model/score/record.ts";

type Words = {
  readonly title: string;
  /** The measurement in words, by the value and the inputs of the line. */
  readonly says: (value: number, inputs: FeatureInputs) => string;
  /** The change that raises the feature. */
  readonly advice: (inputs: FeatureInputs) => string;
};

/** The features of the model in words. Inputs are absent in lines of an older service. */
const FEATURES: Readonly<Record<string, Words>> = {
  success_rate: {
    title: "Success rate",
    says: (value, { calls, succeeded, recent_calls, recent_succeeded, recent_days }) => {
      if (calls === undefined || succeeded === undefined) {
        return `An estimated ${shareWords(value)} of its calls succeed`;
      }
      const whole = `${succeeded} of ${counted(calls, "call")} to others succeeded (${shareWords(succeeded / calls)})`;
      if (!recent_calls || recent_succeeded === undefined) return whole;
      const isWorse = recent_succeeded / recent_calls < succeeded / calls - WORSE_BY;
      return isWorse
        ? `${whole}, in its last ${recent_days} days ${recent_succeeded} of ${recent_calls}`
        : whole;
    },
    advice: () => "Simulate each call before sending it, and hold back the calls that would fail",
  },
  gas_efficiency: {
    title: "Gas efficiency",
    says: (value, { burnt_share, gas_price_points, gas_limit_points }) => {
      const burnt = shareWords(burnt_share ?? value);
      const points = [
        ...(gas_price_points === undefined ? [] : [`gas prices ${Math.round(gas_price_points)} of 100`]),
        ...(gas_limit_points === undefined ? [] : [`gas limits ${Math.round(gas_limit_points)} of 100`]),
      ];
      return capitalised([`${burnt} of its fees were spent on failed calls`, ...points].join(", "));
    },
    advice: ({ burnt_fees_points = 0, gas_price_points = 100 }) =>
      burnt_fees_points <= gas_price_points
        ? "Spend fewer fees on calls that fail"
        : "Bid gas prices nearer to the base fee and median tip of the block",
  },
  portfolio_quality: {
    title: "Portfolio quality",
    says: (value) => `${shareWords(value)} of the value of its holdings is in recognised tokens`,
    advice: () => "Hold value in recognised tokens",
  },
  dust_and_spam: {
    title: "Dust and spam",
    says: (value, { tokens, dust_or_spam_tokens }) =>
      tokens === undefined || dust_or_spam_tokens === undefined
        ? `${shareWords(value)} of its tokens are dust or spam`
        : `${dust_or_spam_tokens} of ${counted(tokens, "token")} that it acquired ${dust_or_spam_tokens === 1 ? "is" : "are"} dust or spam`,
    advice: () => "Acquire no tokens without value",
  },
  risk_flags: {
    title: "Risk flags",
    says: (value, { risky_approvals = 0, risky_delegations = 0, listed_share = 0 }) => {
      const found = [
        ...(risky_approvals > 0
          ? [`${counted(risky_approvals, "unlimited approval")} to new or unknown spenders`]
          : []),
        ...(risky_delegations > 0 ? ["runs the code of a new or unknown account"] : []),
        ...(listed_share > 0
          ? [`${shareWords(listed_share)} of its outgoing value went to listed accounts`]
          : []),
      ];
      if (found.length > 0) return capitalised(found.join("; "));
      return value === 0
        ? "No risky approval, no risky delegation, no listed counterparty"
        : `${Math.round(value)} of 100 points lost to approvals, delegations or listed counterparties`;
    },
    advice: ({ risky_approvals = 0, risky_delegations = 0 }) => {
      if (risky_approvals > 0) return "Revoke unlimited approvals to new or unknown spenders";
      return risky_delegations > 0
        ? "End the delegation to code of a new or unknown account"
        : "Stop dealing with listed accounts";
    },
  },
  timing_regularity: {
    title: "Timing regularity",
    says: (value, inputs) => {
      const pause = inputs.longest_pause_ratio;
      const longest =
        pause !== undefined && pause >= LONG_PAUSE
          ? `, with a pause ${tenth(pause)} times as long as usual`
          : "";
      return `${rhythmWords(value)}${longest}${gateWords(inputs)}`;
    },
    advice: () => "Spread activity evenly, without bursts and long pauses",
  },
  counterparty_diversity: {
    title: "Counterparty diversity",
    says: (value, inputs) => {
      const parties = inputs.counterparties;
      const many = parties === undefined ? "" : `${counted(parties, "counterparty", "counterparties")}, `;
      return `${capitalised(`${many}as varied as ${tenth(value)} used equally`)}${gateWords(inputs)}`;
    },
    advice: () => "Deal with more independent counterparties",
  },
  adaptation: {
    title: "Adaptation",
    says: (value, inputs) => {
      const { repeated_failures, out_of_gas_failures = 0, gas_price_points } = inputs;
      if (repeated_failures === undefined) return `${Math.round(value)} of 100 for learning from failures`;
      const repeated =
        repeated_failures === 0
          ? "no call repeated after three failures in a row"
          : `${counted(repeated_failures, "failed call")} sent after three failures in a row of the same call`;
      const starved = out_of_gas_failures === 0 ? [] : [`${out_of_gas_failures} out of gas`];
      const price =
        gas_price_points === undefined ? [] : [`recent gas prices ${Math.round(gas_price_points)} of 100`];
      return `${capitalised([repeated, ...starved, ...price].join(", "))}${gateWords(inputs)}`;
    },
    advice: ({ repeated_failures_points = 100, gas_price_points = 100, recent_success_points = 100 }) => {
      const lowest = Math.min(repeated_failures_points, gas_price_points, recent_success_points);
      if (lowest === gas_price_points)
        return "Bid gas prices nearer to the base fee and median tip of the block";
      return lowest === repeated_failures_points
        ? "Stop repeating a call that failed three times in a row"
        : "Find out why recent calls fail before sending more";
    },
  },
  failure_recovery: {
    title: "Failure recovery",
    says: (value, { failed, recovered }) => {
      if (failed === undefined || recovered === undefined) {
        return value === 0 ? "No failed call" : `Failures with a burden of ${tenth(value)} calls`;
      }
      if (failed === 0) return "No failed call";
      if (recovered === failed) {
        return failed === 1
          ? "1 failed call, later retried successfully"
          : `${failed} failed calls, all later retried successfully`;
      }
      return `${failed - recovered} of ${counted(failed, "failed call")} ${failed - recovered === 1 ? "was" : "were"} never retried successfully`;
    },
    advice: () => "Correct and retry failed calls soon: the next success of the same call ends a failure",
  },
  consistency: {
    title: "Consistency",
    says: (value, { active_weeks }) => `Active in ${counted(active_weeks ?? Math.round(value), "week")}`,
    advice: () => "Stay active every week",
  },
  availability: {
    title: "Availability",
    says: (value) => `${shareWords(value)} of the probes were answered`,
    advice: () => "Keep the declared endpoints answering",
  },
  latency_p50: {
    title: "Median latency",
    says: (value) => `Half of the probes took at most ${Math.round(value)} ms`,
    advice: () => "Answer probes faster",
  },
  latency_p95: {
    title: "Slowest latency",
    says: (value) => `95% of the probes took at most ${Math.round(value)} ms`,
    advice: () => "Answer probes faster",
  },
  error_rate: {
    title: "Error rate",
    says: (value) => `${shareWords(value)} of the probes failed`,
    advice: () => "Repair the declared endpoints that fail",
  },
  validity: {
    title: "Validity",
    says: (value) => `${shareWords(value)} of the conclusive probes were answered correctly`,
    advice: () => "Serve on each endpoint what its declared kind must serve",
  },
};

/** A recent success rate that is so much lower is worth a mention. */
const WORSE_BY = 0.1;
/** A longest pause of so many times the expected one is worth a mention. */
const LONG_PAUSE = 1.5;

const TITLES: Readonly<Record<string, string>> = {
  d1: "Wallet hygiene",
  d2: "Behavioural patterns",
  d3: "Infrastructure",
  ahs: "Agent Health Score",
  self_dealing_ring: "Self-dealing ring",
  weak_link: "Weak link",
  evidence: "Evidence for a grade",
  pattern_limit: "Limit of pattern costs",
};

/** The display name of a feature, adjustment or pattern: "Success rate". */
export function titleOf(name: string): string {
  return FEATURES[name]?.title ?? TITLES[name] ?? capitalised(name.replaceAll("_", " "));
}

/** One sentence, without a full stop, for a line of the explanation. */
export function sentenceOf({ name, state, value, reason, inputs = {} }: FeatureLine): string {
  switch (state) {
    case "unknown":
      return reason === null ? "Not known" : `Not known: ${reason}`;
    case "not_applicable":
      return reason === null ? "Does not apply" : `Does not apply: ${reason}`;
    case "measured": {
      const words = FEATURES[name];
      if (value !== null && words !== undefined) return words.says(value, inputs);
      if (reason !== null) return capitalised(reason);
      return value === null ? "Measured" : `${Math.round(100 * value) / 100} points`;
    }
  }
}

/** Whether a line is a feature of a dimension, and not a rounding, cap or effect. */
export function isFeature({ dimension, name }: Pick<FeatureLine, "dimension" | "name">): boolean {
  return dimension !== "AHS" && name in FEATURES;
}

type Explained = {
  readonly ahsScore: number | null;
  readonly grade: Grade | null;
  readonly sanctioned: boolean;
  readonly features: readonly FeatureLine[];
  readonly patterns: readonly Pattern[];
};

/** Points of the score that a feature costs; features that cost less are not named as a reason. */
export const NOTABLE_POINTS = 2;
const NAMED_LOSSES = 2;

/** Why the grade is what it is, in one sentence with a full stop. */
export function gradeReason(score: Explained, policy: Policy): string {
  const { ahsScore, grade, sanctioned, features } = score;
  if (sanctioned) return "Grade F: the wallet is on a sanctions list, which alone makes the score 0.";
  if (ahsScore === null || grade === null) return reasonOfNoGrade(score);
  const losses = [...lossesOf(features, policy), ...patternLosses(score)]
    .filter(({ points }) => points >= NOTABLE_POINTS)
    .toSorted((a, b) => b.points - a.points);
  const success = features.find(({ name }) => name === "success_rate");
  const [largest] = losses;
  const fact = success === undefined ? "" : `${uncapitalised(sentenceOf(success))}; `;
  if (largest === undefined) {
    return `Grade ${grade}: ${fact}no feature costs more than ${NOTABLE_POINTS} points.`;
  }
  const isGood = (grade === "A" || grade === "B") && largest.title !== titleOf("success_rate");
  return isGood
    ? `Grade ${grade}: ${fact}largest loss: ${lossWords(largest)}.`
    : `Grade ${grade}: ${losses.slice(0, NAMED_LOSSES).map(lossWords).join(" and ")}.`;
}

/** The condition that is missing, and what was found all the same. Records of older versions do not name the condition. */
function reasonOfNoGrade({ features, patterns }: Explained): string {
  const evidence = features.find(({ dimension, name }) => dimension === "AHS" && name === "evidence");
  const missing = evidence?.reason ?? "too little history, or none that is recent";
  const found = patterns
    .filter(({ severity }) => severity !== "info")
    .map((pattern) => `${uncapitalised(titleOf(pattern.name))} (${pattern.evidence})`);
  return found.length === 0
    ? `No grade: ${missing}; this is no sign of risk.`
    : `No grade: ${missing}; seen so far: ${found.join(", ")}.`;
}

/** "2 failed calls, all later retried successfully (failure recovery, −3 points)". */
function lossWords({ points, title, says }: { points: number; title: string; says: string }): string {
  return `${uncapitalised(says)} (${uncapitalised(title)}, −${Math.round(points)} points)`;
}

/** The change that raises the score most; null without a grade, for a listed wallet and where less than a point is to be gained. */
export function bestImprovement({ ahsScore, sanctioned, features }: Explained, policy: Policy) {
  if (sanctioned || ahsScore === null) return null;
  const [greatest] = lossesOf(features, policy).toSorted((a, b) => b.points - a.points);
  if (greatest === undefined || greatest.points < 1) return null;
  const { line, title, points } = greatest;
  const advice = FEATURES[line.name]?.advice(line.inputs ?? {}) ?? null;
  return advice === null
    ? null
    : { feature: line.name, title, says: advice, points: Math.round(10 * points) / 10 };
}

/** Points of the score that each measured feature lacks to its full score. */
export function lossesOf(features: readonly FeatureLine[], { dimensionPercent }: Policy) {
  return (["D1", "D2"] as const).flatMap((dimension) => {
    const lines = features.filter((line) => line.dimension === dimension && isFeature(line));
    const counting = lines.flatMap((line) =>
      line.state === "measured" && line.score !== null ? [{ line, score: line.score }] : [],
    );
    const weights = counting.reduce((sum, { line }) => sum + line.weight, 0);
    return counting.map(({ line, score }) => ({
      dimension,
      line,
      title: titleOf(line.name),
      says: sentenceOf(line),
      points: (dimensionPercent[dimension] / 100) * (line.weight / weights) * (100 - score),
    }));
  });
}

function patternLosses({ patterns }: Explained) {
  return patterns.map(({ name, effect, evidence }) => ({
    title: titleOf(name),
    says: evidence,
    points: -effect,
  }));
}

/** Burstiness, -1 for a metronome and 1 for one burst, in words. */
function rhythmWords(burstiness: number): string {
  if (burstiness <= -0.3) return "Very regular activity";
  if (burstiness <= 0.1) return "Regular activity";
  return burstiness <= 0.4 ? "Uneven activity" : "Activity in bursts";
}

/** How much of a feature counts, where too few calls succeed. */
function gateWords({ counted_share }: FeatureInputs): string {
  if (counted_share === undefined || counted_share >= 1) return "";
  const share = counted_share === 0 ? "nothing" : shareWords(counted_share);
  return `; ${share} of it counts, because too few calls succeed`;
}

function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function uncapitalised(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}

function tenth(value: number): string {
  return String(Math.round(10 * value) / 10);
}

function counted(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}
