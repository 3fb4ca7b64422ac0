import { SECONDS_PER_DAY } from "../features/time.ts";
import { readCurve } from "./curve.ts";
import { divideRound, MICRO, toMicros } from "./fixed-point.ts";
import type { Curve, FeatureRule, Policy } from "./policy-shape.ts";
import { type Feature, type FeatureLine, type Grade, gradeOf, leadToScore, type Pattern } from "./record.ts";
import {
  type Dimension,
  dimensionLines,
  integerPoints,
  scoreDimension,
  scoreTotalWithD3,
} from "./score-total.ts";

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

const SECONDS_PER_HOUR = 3_600;

/** D3 of the probes of one agent's endpoints in the window that ends at `now` (Unix seconds). */
export function scoreInfrastructure(
  probes: readonly ProbeFact[],
  now: number,
  policy: Policy,
): Infrastructure {
  const rules = policy.infrastructure;
  const from = now - rules.windowDays * SECONDS_PER_DAY;
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
): {
  readonly ahsScore: number;
  readonly grade: Grade;
  readonly d3Score: number;
  readonly features: readonly FeatureLine[];
} | null {
  const { points } = infrastructure.dimension;
  const own = record.features.filter(({ dimension }) => dimension !== "AHS");
  const total = record.features.filter(({ dimension }) => dimension === "AHS");
  if (points === null || !leadToScore(total)) return null;
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
  const hours = times.length === 0 ? 0 : (latest(times) - earliest(times)) / SECONDS_PER_HOUR;
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

/** Validity weighs by the share of judged probes: probes without a judgement neither help nor harm. */
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
          sharePercent: 100,
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

/** The part of a probe that D3 reads. */
export type ProbeFact = {
  /** Unix seconds. */
  readonly at: number;
  /** Whether it was answered as by a service that is up; a refusal by 401, 402 or 403 is, 404 and 5xx are not. */
  readonly alive: boolean;
  /** Milliseconds to the end of the answer; null without one. */
  readonly latencyMs: number | null;
  /** Whether what it served is what the service's kind must serve; null where nothing can be said. */
  readonly valid: boolean | null;
};

/** Figures of several probes together; shares are of one, rounded to 1e-6. */
export type ProbeFigures = {
  readonly probes: number;
  /** Share of the probes that were answered as alive. */
  readonly availability: number;
  /** Share of failed probes; a dropped connection counts like a 503. */
  readonly errorRate: number;
  /** Nearest rank; a probe that failed counts as having taken the longest time. */
  readonly latencyP50Ms: number;
  readonly latencyP95Ms: number;
  /** Share of the judged probes that served what they must; a failed one served nothing. Null where none is judged. */
  readonly validity: number | null;
  /** Probes with a known validity, failed ones included. */
  readonly judged: number;
};

/** Figures of at least one probe, in any order; null of none. A failing probe in place of a good one makes none better. */
export function measureProbes(probes: readonly ProbeFact[], longestMs: number): ProbeFigures | null {
  if (probes.length === 0) return null;
  const alive = probes.filter((probe) => probe.alive);
  const failed = probes.length - alive.length;
  const latencies = probes.map((probe) => latencyOf(probe, longestMs)).sort((a, b) => a - b);
  const judged = alive.filter(({ valid }) => valid !== null).length + failed;
  const valid = alive.filter((probe) => probe.valid === true).length;
  return {
    probes: probes.length,
    availability: share(alive.length, probes.length),
    errorRate: share(failed, probes.length),
    latencyP50Ms: nearestRank(latencies, 50),
    latencyP95Ms: nearestRank(latencies, 95),
    validity: judged === 0 ? null : share(valid, judged),
    judged,
  };
}

function latencyOf({ alive, latencyMs }: ProbeFact, longestMs: number): number {
  return alive && latencyMs !== null ? Math.min(latencyMs, longestMs) : longestMs;
}

function share(part: number, whole: number): number {
  return divideRound(toMicros(part), whole) / MICRO;
}

/** The smallest value that so many percent of the values do not exceed. */
function nearestRank(sorted: readonly number[], percent: number): number {
  const value = sorted[Math.ceil((percent * sorted.length) / 100) - 1];
  if (value === undefined) throw new RangeError("a percentile needs a value");
  return value;
}
