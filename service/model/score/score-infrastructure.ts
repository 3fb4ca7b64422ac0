import { readCurve } from "./curve.ts";
import { toMicros } from "./fixed-point.ts";
import { gradeOf } from "./grade.ts";
import { measureProbes, type ProbeFact, type ProbeFigures } from "./measure-probes.ts";
import type { Feature } from "./measured-wallet.ts";
import type { Curve, FeatureRule, Policy } from "./policy-shape.ts";
import type { FeatureLine, Grade, Pattern } from "./record.ts";
import { type Dimension, dimensionLines, integerPoints, scoreDimension } from "./score-dimension.ts";
import { scoreTotalWithD3 } from "./score-total.ts";

/** D3 as of a moment. */
export type Infrastructure = {
  /** Unix seconds of the window's ends. */
  readonly from: number;
  readonly to: number;
  /** Null without a probe in the window. */
  readonly figures: ProbeFigures | null;
  /** Without points where the probes do not suffice. */
  readonly dimension: Dimension;
  /** Why there is no score; null where there is one. */
  readonly reason: string | null;
};

/** The part of a stored record that D3 is added to. */
export type ScoredRecord = {
  readonly features: readonly FeatureLine[];
  readonly patterns: readonly Pattern[];
  readonly sanctioned: boolean;
};

export type WithInfrastructure = {
  readonly ahsScore: number;
  readonly grade: Grade;
  readonly d3Score: number;
  readonly features: readonly FeatureLine[];
};

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;

/** D3 of the probes of one agent's endpoints in the window that ends at `now` (Unix seconds). */
export function scoreInfrastructure(
  probes: readonly ProbeFact[],
  now: number,
  policy: Policy,
): Infrastructure {
  const rules = policy.infrastructure;
  const from = now - rules.windowDays * DAY_SECONDS;
  const inside = probes.filter(({ at }) => at > from && at <= now);
  const figures = measureProbes(inside, rules.longestMs);
  const reason = shortfall(inside, policy);
  const features = featuresOf(figures, policy);
  const dimension = scoreDimension("D3", features, { ...policy, features: weighed(rules.features, figures) });
  return {
    from,
    to: now,
    figures,
    dimension: reason === null ? dimension : { ...dimension, points: null },
    reason,
  };
}

/** Lines of D3: with a score their contributions add up to 100 × the integer, without one they are null. */
export function infrastructureLines({ dimension }: Infrastructure): readonly FeatureLine[] {
  return dimensionLines(dimension);
}

/**
 * A record once more with D3, for one answer: the dimensions weigh otherwise, pattern effects and caps stay. Null where D3
 * has no score or the record has none.
 */
export function scoreWithInfrastructure(
  record: ScoredRecord,
  infrastructure: Infrastructure,
  policy: Policy,
): WithInfrastructure | null {
  const { points } = infrastructure.dimension;
  const own = record.features.filter(({ dimension }) => dimension !== "AHS");
  const total = record.features.filter(({ dimension }) => dimension === "AHS");
  if (points === null || total.length === 0) return null;
  const { patterns, sanctioned } = record;
  const { score, lines } = scoreTotalWithD3({ total, d3: points, patterns, sanctioned }, policy);
  return {
    ahsScore: score,
    grade: gradeOf(score, policy.grades),
    d3Score: integerPoints(points),
    features: [...own, ...infrastructureLines(infrastructure), ...lines],
  };
}

/** Why the probes do not suffice; null where they do. */
function shortfall(probes: readonly ProbeFact[], { infrastructure }: Policy): string | null {
  const { minProbes, minSpanHours } = infrastructure;
  const times = probes.map(({ at }) => at);
  const hours = times.length === 0 ? 0 : (latest(times) - earliest(times)) / HOUR_SECONDS;
  if (times.length >= minProbes && hours >= minSpanHours) return null;
  return `${times.length} of at least ${minProbes} probes, over ${Math.floor(hours)} of at least ${minSpanHours} hours`;
}

// Spread over arguments, a week of probes would overflow the stack.
function latest(times: readonly number[]): number {
  return times.reduce((a, b) => Math.max(a, b));
}

function earliest(times: readonly number[]): number {
  return times.reduce((a, b) => Math.min(a, b));
}

/** Validity weighs by the share of the probes that tell it: those that do not neither help nor harm. */
function weighed(rules: readonly FeatureRule[], figures: ProbeFigures | null): readonly FeatureRule[] {
  return rules.map((rule) =>
    rule.name === "validity" && figures !== null
      ? { ...rule, weightPercent: (rule.weightPercent * figures.judged) / figures.probes }
      : rule,
  );
}

function featuresOf(figures: ProbeFigures | null, { infrastructure: curves }: Policy): readonly Feature[] {
  const measured = (name: string, value: number | null | undefined, curve: Curve): Feature =>
    figures === null || value === null || value === undefined
      ? {
          name,
          samples: figures?.probes ?? 0,
          state: figures === null ? "unknown" : "not_applicable",
          value: null,
          scoreMicros: null,
          reason: figures === null ? "no probe in the window" : "nothing it served can be judged",
        }
      : {
          name,
          samples: name === "validity" ? figures.judged : figures.probes,
          state: "measured",
          value,
          scoreMicros: toMicros(readCurve(curve, value)),
          reason: null,
        };
  return [
    measured("availability", figures?.availability, curves.availabilityCurve),
    measured("latency_p50", figures?.latencyP50Ms, curves.latencyP50Curve),
    measured("latency_p95", figures?.latencyP95Ms, curves.latencyP95Curve),
    measured("error_rate", figures?.errorRate, curves.errorRateCurve),
    measured("validity", figures?.validity, curves.validityCurve),
  ];
}
