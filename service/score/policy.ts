import type { FeatureRule, Policy } from "./policy-shape.ts";

const NO_TOKENS = "token holdings are not indexed";
const NO_APPROVALS = "approvals, delegations and transfer recipients are not indexed";
const NO_PRICES = "transaction prices are not compared with their blocks";

/** Every feature of the model; what this version does not compute gives its weight to what it does. */
const FEATURES: readonly FeatureRule[] = [
  rule("D1", "success_rate", { weightPercent: 30, unit: "share of calls", unknownBecause: null }),
  rule("D1", "gas_efficiency", { weightPercent: 20, unit: "share of fees burnt", unknownBecause: null }),
  rule("D1", "portfolio_quality", { weightPercent: 20, unit: "share of value", unknownBecause: NO_TOKENS }),
  rule("D1", "dust_and_spam", { weightPercent: 10, unit: "share of tokens", unknownBecause: NO_TOKENS }),
  rule("D1", "risk_flags", { weightPercent: 20, unit: "points lost", unknownBecause: NO_APPROVALS }),
  rule("D2", "timing_regularity", { weightPercent: 20, unit: "burstiness", unknownBecause: null }),
  rule("D2", "counterparty_diversity", {
    weightPercent: 20,
    unit: "effective counterparties",
    unknownBecause: null,
  }),
  rule("D2", "adaptation", { weightPercent: 20, unit: "points", unknownBecause: NO_PRICES }),
  rule("D2", "failure_recovery", { weightPercent: 25, unit: "burden", unknownBecause: null }),
  rule("D2", "consistency", { weightPercent: 15, unit: "active weeks", unknownBecause: null }),
];

/** Model AHS-2026.0: what the wallet's own calls alone tell, every outside counterparty credited in full. */
export const AHS_2026_0: Policy = {
  version: "AHS-2026.0",
  // Behaviour over months says more than the state of a wallet: the specification's weights.
  dimensionPercent: { D1: 30, D2: 70 },
  // Less than half of a dimension is no picture of it; exactly half is.
  minMeasuredPercent: 50,
  features: FEATURES,
  // Half a year holds the slowest rhythm that can still be judged; a month and a half old counts half.
  // A flood of one call counts once an hour.
  window: { days: 180, halfLifeDays: 45, floodPerDay: 24 },
  success: {
    // Ten calls at 90 %: one failure at the start neither condemns, nor does one success acquit.
    prior: { successes: 9, calls: 10 },
    // Two weeks show a collapse while the window still hides it; its prior is the window's own success.
    recentDays: 14,
    recentPriorCalls: 10,
    // Public chains fail a few percent of honest calls: 95 % is good, 80 % is poor, 60 % is useless.
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
    // Ten mean fees, as ten calls are the prior of success: one early failure is no waste of half.
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
    // A quarter of the mean count stands in for every hour and weekday, so that an unused one still passes time.
    clockPriorShare: 0.25,
    // Evenness counts more than the one longest silence.
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
    // Two percent over ten calls: a short clean record is good, not perfect.
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
    // Half of it is how good the worst weeks are, the rest how active and how long the record is.
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
    // Under two weeks no week can be idle, so the activity is the prior's.
    minSpanDays: 14,
    fullTenureWeeks: 10,
    weekPrior: { successRate: 0.9, calls: 5 },
    // The worst third of the weeks, and no credit for weeks much better than the whole.
    worstPart: 3,
    worstLead: 15,
  },
  patterns: {
    // Patterns warn; features already count the failures that they are made of.
    floor: -15,
    retryStorm: { failures: 10, withinSeconds: 3_600, effect: -2, floor: -6 },
    staleStrategy: { afterFailures: 3, share: 0.1, priorCalls: 10, effect: -6 },
    // No lower bound on the success before it: with one, an older failure would lift the effect and raise the score.
    cascadingFailure: { recentBelow: 0.5, effect: -8 },
  },
  caps: {
    // The better dimension hides no more than 20 points of the worse one.
    weakLinkAbove: 20,
    // Activity with oneself, however healthy, is at most a D.
    unproven: { creditedShareBelow: 0.3, cap: 59 },
  },
  confidence: {
    // Half of what evidence can give at 15 weighted calls, and at 10 days.
    halfCalls: 15,
    halfDays: 10,
    // A long span with few active weeks is worth those weeks.
    daysPerActiveWeek: 7,
    idleHalfLifeDays: 60,
    high: 0.75,
    medium: 0.5,
    low: 0.2,
    // Below either, and below LOW, nothing is said.
    minOwnCalls: 10,
    minWeight: 5,
    insufficientMax: 0.199,
  },
  // The specification's grade table.
  grades: { A: 90, B: 75, C: 60, D: 40, E: 20 },
};

function rule(
  dimension: FeatureRule["dimension"],
  name: string,
  parts: Pick<FeatureRule, "weightPercent" | "unit" | "unknownBecause">,
): FeatureRule {
  return { dimension, name, ...parts };
}
