import type { FeatureRule, Policy } from "./policy-shape.ts";

/** Every feature of the model and its share of its dimension. */
const FEATURES: readonly FeatureRule<"D1" | "D2">[] = [
  { dimension: "D1", name: "success_rate", weightPercent: 30, unit: "share of calls" },
  { dimension: "D1", name: "gas_efficiency", weightPercent: 37, unit: "share of fees burnt" },
  { dimension: "D1", name: "portfolio_quality", weightPercent: 5, unit: "share of value" },
  { dimension: "D1", name: "dust_and_spam", weightPercent: 5, unit: "share of tokens" },
  { dimension: "D1", name: "risk_flags", weightPercent: 23, unit: "points lost" },
  { dimension: "D2", name: "timing_regularity", weightPercent: 6, unit: "burstiness" },
  { dimension: "D2", name: "counterparty_diversity", weightPercent: 8, unit: "effective counterparties" },
  { dimension: "D2", name: "adaptation", weightPercent: 30, unit: "points" },
  { dimension: "D2", name: "failure_recovery", weightPercent: 36, unit: "calls" },
  { dimension: "D2", name: "consistency", weightPercent: 20, unit: "active weeks" },
];

/** Model AHS-2026.2: what a wallet's own acts show, credited by how independent its counterparties are. */
export const AHS_2026_2: Policy = {
  version: "AHS-2026.2",
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
    // Days show a collapse while the window still hides it; its prior is the window's own success.
    recentHalfLifeDays: 3,
    recentPriorCalls: 20,
    recentShare: 0.9,
    // Flatter than the curve of success: one recent failure is no collapse.
    recentCurve: [
      [0.3, 0],
      [0.6, 35],
      [0.8, 70],
      [0.9, 100],
    ],
    // Public chains fail a few percent of honest calls: 95 % is good, 80 % is poor, 60 % is useless.
    curve: [
      [0.3, 0],
      [0.6, 20],
      [0.8, 48],
      [0.9, 70],
      [0.95, 86],
      [0.99, 100],
    ],
  },
  credit: {
    // Three independent users are worth half, ten nearly all: users cost gas and time to fake.
    usersPerHalf: 3,
    // 1 - 2^-10 = .999.
    usersCounted: 30,
    // Who does next to nothing but what the wallet does is the wallet's own crowd.
    captiveShare: 0.8,
    // A month of existence before the first contact was not made for this wallet's score.
    establishedDays: 30,
    establishedFloor: 0.3,
    // Below the bound of "proven": dealing with none but new accounts lowers confidence.
    newFloor: 0.2,
    // Half a year of weekly salaries counts in full; a hundred calls to one's own new account do not count as a hundred.
    newCalls: 24,
    // A failure at a place without credit still burns gas and time: as one at an established place.
    failureFloor: 0.3,
    // A call that costs nothing but gas proves little.
    trivialFactor: 0.1,
    // One US cent.
    trivialBelowMicroUsd: 10_000,
    // Back within the hour and within a tenth: fees and slippage, not business. So many earlier calls are searched.
    roundTrip: { withinSeconds: 3_600, tolerance: 0.1, lookBack: 32 },
    // Sound racers lose up to half, and more would only help those who make gains for themselves. A lost race reverts at its
    // first check, long before the work. A day's price is known to a few percent.
    lostRaces: { perGain: 1, gasRatio: 3, leastGain: 0.03 },
  },
  // The rhythm of useless calls is worth nothing: from 40 % success (nothing) to 80 % (all).
  gate: { floor: 0.4, range: 0.4 },
  // Ten calls' worth of a middling 60 points, so that little evidence scores neither well nor badly.
  shrink: { calls: 10, points: 60 },
  gas: {
    // Fees burnt by failures are lost for nothing; a high price or a loose limit at least buys something.
    wasteShare: 0.5,
    priceShare: 0.35,
    limitShare: 0.15,
    // 50 to 15, without the price.
    unpriced: { wasteShare: 0.77, limitShare: 0.23 },
    // Ten mean fees, as ten calls are the prior of success: one early failure is no waste of half.
    priorMeanFees: 20,
    wasteCurve: [
      [0, 100],
      [0.01, 95],
      [0.05, 70],
      [0.15, 35],
      [0.4, 0],
    ],
    // Price paid over the block's base fee and median tip: a quarter more is prudent, five times is not.
    priceCurve: [
      [1.25, 100],
      [1.5, 85],
      [2, 60],
      [3, 30],
      [5, 0],
    ],
    // Gas used over limit: a quarter is careless, 2 % ignores estimation.
    limitCurve: [
      [0.02, 10],
      [0.1, 40],
      [0.25, 70],
      [0.4, 100],
    ],
  },
  holdings: {
    // A month of payments stands for the native coin that the wallet runs on; its balance can be a gift of any account.
    nativeDays: 30,
    // From half of the calls the rest can be guessed.
    minReceiptShare: 0.5,
    // One US cent.
    dustBelowMicroUsd: 10_000,
    // One bad token takes a quarter of the worth at most, three take half.
    worstTokenShare: 1 / 3,
    leastSoundMicroUsd: 1_000_000,
    fullTokens: 4,
    qualityCurve: [
      [0, 0],
      [1, 100],
    ],
    // A tenth is what trading leaves behind.
    dustCurve: [
      [0.1, 100],
      [0.6, 0],
    ],
  },
  // Three strangers' use is the least that one owner does not make by accident.
  recognisedUsers: 3,
  // Four open doors, or half of all volume to listed accounts, are the whole.
  riskFlags: { perApproval: 25, delegation: 25, exposure: 200 },
  timing: {
    // Fewer active hours have no rhythm to measure.
    minActiveHours: 8,
    // A quarter of the mean count is added to every hour and weekday, so that an unused one still passes time.
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
  adaptation: {
    // Three failures in a row are enough to look at what one is doing.
    afterFailures: 3,
    // A call that used this much of its limit was stopped by it.
    outOfGasShare: 0.98,
    priorCalls: 10,
    // Calls of a month ago say little about how it acts now.
    halfLifeDays: 14,
    blindShare: 0.08,
    gasLimitShare: 0.1,
    recentShare: 0.2,
    overpayShare: 0.62,
    blindCurve: [
      [0, 100],
      [0.01, 85],
      [0.05, 55],
      [0.15, 25],
      [0.4, 0],
    ],
    outOfGasCurve: [
      [0, 100],
      [0.01, 90],
      [0.05, 60],
      [0.15, 20],
    ],
    // Price paid over the market's.
    overpayCurve: [
      [1.5, 100],
      [2.5, 75],
      [4, 45],
      [8, 10],
    ],
  },
  recovery: {
    // Seconds from a failure to the next success of the same (contract, method): 10 min, 1 d, 3 d, 7 d, 14 d. No single call
    // adds much to an unrecovered failure, so that no score falls far at once.
    delayCurve: [
      [600, 0.15],
      [86_400, 0.3],
      [259_200, 0.5],
      [604_800, 0.8],
      [1_209_600, 1],
    ],
    // Each failure before it in the run makes a failure dearer, however fast it ends.
    floor: 0.15,
    floorPerEarlierFailure: 0.04,
    // A failure of five days ago counts half: what was repaired since is forgotten.
    halfLifeDays: 5,
    // More of them say how many failures there are, which the success rate says.
    worst: 4,
    curve: [
      [0, 100],
      [4, 0],
    ],
  },
  consistency: {
    // How active it is and whether it works to the end count alike, the length of the record less.
    activityShare: 0.38,
    tenureShare: 0.24,
    recentShare: 0.38,
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
  },
  patterns: {
    // Patterns warn; features already count the failures that they are made of.
    floor: -15,
    retryStorm: { failures: 10, withinSeconds: 3_600, effect: -1, floor: -3 },
    staleStrategy: { share: { begins: 0.05, whole: 0.15 }, effect: -2 },
    // No lower bound on the success before it: with one, an older failure would lift the effect and raise the score.
    cascadingFailure: { recent: { begins: 0.65, whole: 0.35 }, effect: -8 },
    // Both dear and in vain.
    gasWarCasualty: {
      burnt: { begins: 0.1, whole: 0.25 },
      pricePoints: { begins: 70, whole: 30 },
      effect: -12,
    },
    // Much of what it does is with its owner's accounts, often enough not to be housekeeping.
    selfDealingRing: { share: { begins: 0.4, whole: 0.9 }, calls: 20 },
    zombie: { silentDays: 30 },
    recoveryInProgress: { wholeBelow: 0.9, recentFrom: 0.9 },
    healthyOperator: { steadyFrom: 0.95, minWeight: 30, maxExposedShare: 0.02 },
  },
  // Good behaviour hides little of open doors and burnt fees.
  weakLink: { above: 20, perPoint: 0.25 },
  infrastructure: {
    // A week holds every weekday once, and forgets an outage soon enough to show that it was repaired.
    windowDays: 7,
    minProbes: 20,
    minSpanHours: 24,
    // The deadline of the guarded fetch: a longer wait is no answer.
    longestMs: 10_000,
    dimensionPercent: { D1: 25, D2: 45, D3: 30 },
    features: [
      { dimension: "D3", name: "availability", weightPercent: 40, unit: "share of probes" },
      { dimension: "D3", name: "latency_p50", weightPercent: 12.5, unit: "milliseconds" },
      { dimension: "D3", name: "latency_p95", weightPercent: 12.5, unit: "milliseconds" },
      { dimension: "D3", name: "error_rate", weightPercent: 25, unit: "share of probes" },
      { dimension: "D3", name: "validity", weightPercent: 10, unit: "share of probes" },
    ],
    // Three nines all, two nines good (under two hours lost a week), nine of ten poor.
    availabilityCurve: [
      [0.8, 0],
      [0.9, 35],
      [0.95, 60],
      [0.99, 90],
      [0.999, 100],
    ],
    // From afar, with name, handshake and answer: a quarter of a second is quick, two seconds keep a caller waiting.
    latencyP50Curve: [
      [250, 100],
      [500, 90],
      [1_000, 75],
      [2_000, 45],
      [5_000, 10],
      [10_000, 0],
    ],
    // The slow end may be twice as slow.
    latencyP95Curve: [
      [500, 100],
      [1_000, 90],
      [2_000, 75],
      [4_000, 45],
      [8_000, 10],
      [10_000, 0],
    ],
    // Stricter at the first failures than availability is, and as done with a service that fails one call in four.
    errorRateCurve: [
      [0, 100],
      [0.005, 95],
      [0.02, 75],
      [0.05, 50],
      [0.1, 25],
      [0.25, 0],
    ],
    // An endpoint that does not serve its declared kind is of no use; half of the probes is worth nothing.
    validityCurve: [
      [0.5, 0],
      [0.9, 70],
      [1, 100],
    ],
  },
  confidence: {
    // Half of what evidence can give at 13 weighted calls, and at 10 days.
    halfCalls: 13,
    halfDays: 10,
    // A wallet that fails is known sooner than one that works.
    failingHalfDays: 3,
    // A long span with few active weeks is worth those weeks.
    daysPerActiveWeek: 7,
    // Two weeks: a burst of days is no history, whatever it holds.
    minDays: 14,
    // The credit of an established payee by its age alone: a wallet that pays the same few suppliers for months is proven.
    provenShare: 0.3,
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
