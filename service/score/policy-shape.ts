/** A piecewise linear curve: anchors by rising x, flat before the first and after the last. */
export type Curve = readonly (readonly [x: number, y: number])[];

/** A feature of the model, whether this version computes it or not. */
export type FeatureRule = {
  readonly dimension: "D1" | "D2";
  readonly name: string;
  /** Share of its dimension in percent. */
  readonly weightPercent: number;
  /** Unit of the feature's value. */
  readonly unit: string;
  /** Why this version cannot compute it; null where it does. */
  readonly unknownBecause: string | null;
};

/** Every constant of the scoring model under one version; plain JSON, so that its hash names it. */
export type Policy = {
  readonly version: string;
  readonly dimensionPercent: { readonly D1: number; readonly D2: number };
  /** A dimension with a smaller measured share of its weight is not scored. */
  readonly minMeasuredPercent: number;
  readonly features: readonly FeatureRule[];
  readonly window: {
    readonly days: number;
    readonly halfLifeDays: number;
    /** Calls of one (contract, method) and day that count whole. */
    readonly floodPerDay: number;
  };
  readonly success: {
    readonly prior: { readonly successes: number; readonly calls: number };
    readonly recentDays: number;
    readonly recentPriorCalls: number;
    readonly curve: Curve;
  };
  readonly gate: { readonly floor: number; readonly range: number };
  readonly shrink: { readonly calls: number; readonly points: number };
  readonly gas: {
    readonly wasteShare: number;
    readonly limitShare: number;
    readonly priorMeanFees: number;
    readonly wasteCurve: Curve;
    readonly limitCurve: Curve;
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
  readonly recovery: {
    readonly delayCurve: Curve;
    readonly floor: number;
    readonly floorPerEarlierFailure: number;
    readonly prior: number;
    readonly priorCalls: number;
    readonly curve: Curve;
  };
  readonly consistency: {
    readonly activityShare: number;
    readonly tenureShare: number;
    readonly worstShare: number;
    readonly activityCurve: Curve;
    readonly activityPrior: { readonly weeks: number; readonly points: number };
    readonly minSpanDays: number;
    readonly fullTenureWeeks: number;
    readonly weekPrior: { readonly successRate: number; readonly calls: number };
    readonly worstPart: number;
    readonly worstLead: number;
  };
  readonly patterns: {
    readonly floor: number;
    readonly retryStorm: {
      readonly failures: number;
      readonly withinSeconds: number;
      readonly effect: number;
      readonly floor: number;
    };
    readonly staleStrategy: {
      readonly afterFailures: number;
      readonly share: number;
      readonly priorCalls: number;
      readonly effect: number;
    };
    readonly cascadingFailure: { readonly recentBelow: number; readonly effect: number };
  };
  readonly caps: {
    readonly weakLinkAbove: number;
    readonly unproven: { readonly creditedShareBelow: number; readonly cap: number };
  };
  readonly confidence: {
    readonly halfCalls: number;
    readonly halfDays: number;
    readonly daysPerActiveWeek: number;
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
