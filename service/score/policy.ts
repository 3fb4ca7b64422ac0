import type { FeatureRule, Policy } from "./policy-shape.ts";

const NO_TOKENS = "token holdings are not indexed";
const NO_PRICES = "transaction prices are not compared with their blocks";

const FEATURES: readonly FeatureRule[] = [
  feature("D1", "success_rate", 30, "share of calls", null),
  feature("D1", "gas_efficiency", 20, "share of fees burnt", null),
  feature("D1", "portfolio_quality", 20, "share of value", NO_TOKENS),
  feature("D1", "dust_and_spam", 10, "share of tokens", NO_TOKENS),
  feature(
    "D1",
    "risk_flags",
    20,
    "points lost",
    "approvals, delegations and transfer recipients are not indexed",
  ),
  feature("D2", "timing_regularity", 20, "burstiness", null),
  feature("D2", "counterparty_diversity", 20, "effective counterparties", null),
  feature("D2", "adaptation", 20, "points", NO_PRICES),
  feature("D2", "failure_recovery", 25, "burden", null),
  feature("D2", "consistency", 15, "active weeks", null),
];

/** Model AHS-2026.0: what the wallet's own calls alone tell, every outside counterparty credited in full. */
export const AHS_2026_0: Policy = {
  version: "AHS-2026.0",
  // Behaviour over months says more than the state of a wallet: the specification's weights.
  dimensionPercent: { D1: 30, D2: 70 },
  minMeasuredPercent: 50,
  features: FEATURES,
  // Half a year holds the slowest rhythm that can still be judged; a month and a half old counts half.
  // A flood of one call counts once an hour.
  window: { days: 180, halfLifeDays: 45, floodPerDay: 24 },
  success: {
    // Ten calls at 90 %: one failure at the start neither condemns, nor does one success acquit.
    prior: { successes: 9, calls: 10 },
    recentDays: 14,
    recentPriorCalls: 10,
    curve: [
      [0.6, 0],
      [0.8, 35],
      [0.9, 65],
      [0.95, 85],
      [0.99, 100],
    ],
  },
  // The rhythm of useless calls is worth nothing: from 25 % success (nothing) to 85 % (all).
  gate: { floor: 0.25, range: 0.6 },
  // Ten calls' worth of a middling 60 points, so that little evidence scores neither well nor badly.
  shrink: { calls: 10, points: 60 },
  gas: {
    // 0.50 waste, 0.35 price, 0.15 limit; without prices the other two share the whole.
    wasteShare: 0.77,
    limitShare: 0.23,
    priorMeanFees: 10,
    wasteCurve: [
      [0, 100],
      [0.01, 95],
      [0.05, 70],
      [0.15, 35],
      [0.4, 0],
    ],
    // Gas used over limit: a quarter is careless, 2 % ignores estimation.
    limitCurve: [
      [0.02, 10],
      [0.1, 40],
      [0.25, 70],
      [0.4, 100],
    ],
  },
  timing: {
    // Fewer active hours have no rhythm to measure.
    minActiveHours: 8,
    clockPriorShare: 0.25,
    burstShare: 0.6,
    silenceShare: 0.4,
    // Finite-size burstiness of Kim & Jo 2016: -1 is a metronome, 0 random, 1 one burst.
    burstCurve: [
      [0.25, 100],
      [0.4, 80],
      [0.6, 45],
      [0.8, 10],
      [1, 0],
    ],
    // Longest silence over the longest that a random process of as many events would show.
    silenceCurve: [
      [1.5, 100],
      [3, 70],
      [6, 30],
      [10, 0],
    ],
  },
  // Over log2 of the effective number of counterparties: a specialist 60, eight of them all.
  diversity: {
    curve: [
      [0, 60],
      [3, 100],
    ],
  },
  recovery: {
    // Seconds from a failure to the next success of the same (contract, method): 10 min, 1 h, 6 h, 24 h, 7 d.
    delayCurve: [
      [600, 0.15],
      [3_600, 0.3],
      [21_600, 0.55],
      [86_400, 0.8],
      [604_800, 1],
    ],
    // Each failure before it in the run makes a failure dearer, however fast it ends.
    floor: 0.15,
    floorPerEarlierFailure: 0.1,
    prior: 0.2,
    priorCalls: 10,
    curve: [
      [0, 100],
      [0.005, 94],
      [0.02, 78],
      [0.05, 55],
      [0.1, 32],
      [0.2, 12],
      [0.35, 0],
    ],
  },
  consistency: {
    activityShare: 0.35,
    tenureShare: 0.15,
    worstShare: 0.5,
    // Active weeks over weeks in the span.
    activityCurve: [
      [0, 0],
      [0.2, 20],
      [0.5, 65],
      [0.9, 100],
    ],
    activityPrior: { weeks: 2, points: 60 },
    minSpanDays: 14,
    fullTenureWeeks: 10,
    weekPrior: { successRate: 0.9, calls: 5 },
    // The worst third of the weeks, and no credit for weeks much better than the whole.
    worstPart: 3,
    worstLead: 15,
  },
  patterns: {
    floor: -15,
    retryStorm: { failures: 10, withinSeconds: 3_600, effect: -2, floor: -6 },
    staleStrategy: { afterFailures: 3, share: 0.1, priorCalls: 10, effect: -6 },
    // No lower bound on the success before it: with one, an older failure would lift the effect and raise the score.
    cascadingFailure: { recentBelow: 0.5, effect: -8 },
  },
  caps: {
    // The better dimension hides no more than 20 points of the worse one.
    weakLinkAbove: 20,
    unproven: { creditedShareBelow: 0.3, cap: 59 },
  },
  confidence: {
    // Half of what evidence can give at 15 weighted calls, and at 10 days.
    halfCalls: 15,
    halfDays: 10,
    daysPerActiveWeek: 7,
    idleHalfLifeDays: 60,
    high: 0.75,
    medium: 0.5,
    low: 0.2,
    minOwnCalls: 10,
    minWeight: 5,
    insufficientMax: 0.199,
  },
  grades: { A: 90, B: 75, C: 60, D: 40, E: 20 },
};

function feature(
  ...[dimension, name, weightPercent, unit, unknownBecause]: [
    FeatureRule["dimension"],
    string,
    number,
    string,
    string | null,
  ]
): FeatureRule {
  return { dimension, name, weightPercent, unit, unknownBecause };
}
