/** A piecewise linear curve: anchors by rising x, flat before the first and after the last. */
export type Curve = readonly (readonly [x: number, y: number])[];

/** Where an effect begins and where it is whole, on a rising or a falling measure; linear between. */
export type Ramp = { readonly begins: number; readonly whole: number };

/** A feature of the model. */
export type FeatureRule<Dimension extends "D1" | "D2" | "D3" = "D1" | "D2" | "D3"> = {
  readonly dimension: Dimension;
  readonly name: string;
  /** Share of its dimension in percent. */
  readonly weightPercent: number;
  /** Unit of the feature's value. */
  readonly unit: string;
};

/** Every constant of the scoring model under one version; plain JSON, so that its hash names it. */
export type Policy = {
  readonly version: string;
  readonly dimensionPercent: { readonly D1: number; readonly D2: number };
  /** A dimension with a smaller measured share of its weight is not scored. */
  readonly minMeasuredPercent: number;
  readonly features: readonly FeatureRule<"D1" | "D2">[];
  readonly window: {
    readonly days: number;
    readonly halfLifeDays: number;
    /** Calls of one (contract, method) and day that count whole. */
    readonly floodPerDay: number;
  };
  readonly success: {
    readonly prior: { readonly successes: number; readonly calls: number };
    readonly recentHalfLifeDays: number;
    readonly recentPriorCalls: number;
    readonly recentShare: number;
    readonly curve: Curve;
    /** Points of s_r where D2 reads it. */
    readonly recentCurve: Curve;
  };
  /** Credit of a counterparty, and what makes a call trivial. */
  readonly credit: {
    /** Independent users that make a counterparty half credible. */
    readonly usersPerHalf: number;
    /** Users beyond this number add nothing that shows. */
    readonly usersCounted: number;
    /** A user with this share of its calls among the wallet's own counterparties is not independent. */
    readonly captiveShare: number;
    /** How long an account must have existed to count as established. */
    readonly establishedDays: number;
    readonly establishedFloor: number;
    /** Of an account that is new: one that others funded, or that is paid something of worth. */
    readonly newFloor: number;
    /** Calls to one new account that count whole; of k calls more the share is this over k. */
    readonly newCalls: number;
    /** Least that a failure counts, wherever it was. */
    readonly failureFloor: number;
    readonly trivialFactor: number;
    readonly trivialBelowMicroUsd: number;
    readonly roundTrip: {
      readonly withinSeconds: number;
      readonly tolerance: number;
      readonly lookBack: number;
    };
    /** Failures that are lost races count as trivial calls do. */
    readonly lostRaces: {
      /** Losses that each gain allows. */
      readonly perGain: number;
      /** How many times the gas of a loss a gain used. */
      readonly gasRatio: number;
      /** Worth of a gain above what was given for it, as a share of that. */
      readonly leastGain: number;
    };
  };
  readonly gate: { readonly floor: number; readonly range: number };
  readonly shrink: { readonly calls: number; readonly points: number };
  readonly gas: {
    readonly wasteShare: number;
    readonly priceShare: number;
    readonly limitShare: number;
    /** The shares where no price can be compared. */
    readonly unpriced: { readonly wasteShare: number; readonly limitShare: number };
    readonly priorMeanFees: number;
    readonly wasteCurve: Curve;
    readonly priceCurve: Curve;
    readonly limitCurve: Curve;
  };
  /** Assets that the wallet's own acts left it with. */
  readonly holdings: {
    /** Own payments of the native coin count for so long. */
    readonly nativeDays: number;
    /** With receipts of a smaller share of the calls' weight, holdings are unknown. */
    readonly minReceiptShare: number;
    /** A token of a known worth below it is dust. */
    readonly dustBelowMicroUsd: number;
    /** Unsound tokens count each for no more than this share of what is sound, and that for no less than so much. */
    readonly worstTokenShare: number;
    readonly leastSoundMicroUsd: number;
    /** Tokens from which both features of holdings have their whole weight. */
    readonly fullTokens: number;
    readonly qualityCurve: Curve;
    readonly dustCurve: Curve;
  };
  /** Outside users that make a token or a spender known. */
  readonly recognisedUsers: number;
  readonly riskFlags: {
    /** Points lost. */
    readonly perApproval: number;
    readonly delegation: number;
    /** Times the share of the outgoing volume. */
    readonly exposure: number;
  };
  readonly timing: {
    readonly minActiveHours: number;
    readonly clockPriorShare: number;
    readonly burstShare: number;
    readonly silenceShare: number;
    readonly burstCurve: Curve;
    readonly silenceCurve: Curve;
  };
  readonly diversity: { readonly curve: Curve };
  readonly adaptation: {
    /** A failure after so many in a row of the same call is blind. */
    readonly afterFailures: number;
    /** Share of the gas limit from which a failed call ran out of gas. */
    readonly outOfGasShare: number;
    readonly priorCalls: number;
    /** Shares of stopping what fails, of gas limits that suffice, and of prices near the market's. */
    /** Of the weights of prices. */
    readonly halfLifeDays: number;
    readonly blindShare: number;
    readonly overpayShare: number;
    readonly gasLimitShare: number;
    readonly recentShare: number;
    readonly blindCurve: Curve;
    readonly outOfGasCurve: Curve;
    readonly overpayCurve: Curve;
  };
  readonly recovery: {
    readonly delayCurve: Curve;
    readonly floor: number;
    readonly floorPerEarlierFailure: number;
    readonly halfLifeDays: number;
    /** How many of the worst failures count. */
    readonly worst: number;
    readonly curve: Curve;
  };
  readonly consistency: {
    readonly activityShare: number;
    readonly tenureShare: number;
    readonly recentShare: number;
    readonly activityCurve: Curve;
    readonly activityPrior: { readonly weeks: number; readonly points: number };
    readonly minSpanDays: number;
    readonly fullTenureWeeks: number;
  };
  readonly patterns: {
    readonly floor: number;
    readonly retryStorm: {
      readonly failures: number;
      readonly withinSeconds: number;
      readonly effect: number;
      readonly floor: number;
    };
    /** On the share of blind failures. */
    readonly staleStrategy: { readonly share: Ramp; readonly effect: number };
    readonly cascadingFailure: { readonly recent: Ramp; readonly effect: number };
    readonly gasWarCasualty: {
      readonly burnt: Ramp;
      readonly pricePoints: Ramp;
      readonly effect: number;
    };
    /** Share of the weight of own calls, and how many of them, that go round within the owner cluster. */
    readonly selfDealingRing: { readonly share: Ramp; readonly calls: number };
    readonly zombie: { readonly silentDays: number };
    readonly recoveryInProgress: { readonly wholeBelow: number; readonly recentFrom: number };
    readonly healthyOperator: {
      readonly steadyFrom: number;
      readonly minWeight: number;
      /** Of the outgoing volume, to sanctioned or mixer accounts. */
      readonly maxExposedShare: number;
    };
  };
  /** Points that the total loses for each point that D1 is more than so many points below D2. */
  readonly weakLink: { readonly above: number; readonly perPoint: number };
  /** D3: asked for by the reader, of that answer alone, from probes of the endpoints that the agent declares. */
  readonly infrastructure: {
    readonly windowDays: number;
    /** Fewer probes, or probes over less time, are no score. */
    readonly minProbes: number;
    readonly minSpanHours: number;
    /** Milliseconds that a probe may take; one that failed counts as having taken them. */
    readonly longestMs: number;
    /** Shares of the dimensions in an answer with D3. */
    readonly dimensionPercent: { readonly D1: number; readonly D2: number; readonly D3: number };
    readonly features: readonly FeatureRule[];
    readonly availabilityCurve: Curve;
    readonly latencyP50Curve: Curve;
    readonly latencyP95Curve: Curve;
    readonly errorRateCurve: Curve;
    readonly validityCurve: Curve;
  };
  readonly confidence: {
    readonly halfCalls: number;
    readonly halfDays: number;
    /** As halfDays, of a record of grade E or F. */
    readonly failingHalfDays: number;
    readonly daysPerActiveWeek: number;
    /** Days of evidence without which nothing better than E is said. */
    readonly minDays: number;
    /** Credited share of the activity from which it is proven; below, confidence falls with its square. */
    readonly provenShare: number;
    readonly idleHalfLifeDays: number;
    readonly high: number;
    readonly medium: number;
    readonly low: number;
    readonly minOwnCalls: number;
    readonly minWeight: number;
    readonly insufficientMax: number;
  };
  /** Points each grade starts at; below the last it is F. */
  readonly grades: {
    readonly A: number;
    readonly B: number;
    readonly C: number;
    readonly D: number;
    readonly E: number;
  };
};
