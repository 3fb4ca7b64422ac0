import { divideRound, MICRO } from "./fixed-point.ts";
import type { Feature } from "./measured-wallet.ts";
import type { FeatureRule } from "./policy-shape.ts";
import type { FeatureLine } from "./record.ts";

/** Points in millionths, 0 to 100,000,000. */
export type Points = number;

/** A dimension before caps. */
export type Dimension = {
  readonly name: FeatureRule["dimension"];
  /** Null where under half of its weight is measured. */
  readonly points: Points | null;
  readonly features: readonly Feature[];
  readonly rules: readonly FeatureRule[];
};

/** Weighted mean of the measured features, which share the weight of all others. */
export function scoreDimension(
  name: FeatureRule["dimension"],
  features: readonly Feature[],
  policy: { readonly features: readonly FeatureRule[]; readonly minMeasuredPercent: number },
): Dimension {
  const rules = policy.features.filter((rule) => rule.dimension === name);
  const own = rules.map((rule) => featureOf(rule, features));
  const { sum, weight } = weigh(rules, own);
  const points = weight < policy.minMeasuredPercent ? null : divideRound(sum, weight);
  return { name, points, features: own, rules };
}

/**
 * Lines of a dimension. With points, contributions add up to 100 × the points rounded to an integer, with a rounding line
 * where the features' own hundredths do not; without points they are null.
 */
export function dimensionLines(dimension: Dimension): readonly FeatureLine[] {
  const { rules, features, points } = dimension;
  const shares = points === null ? null : contributions(dimension, points);
  const lines = rules.map((rule, position) => {
    const feature = featureAt(features, position);
    const contribution = shares?.[position] ?? null;
    return lineOf(rule, feature, feature.state === "measured" ? contribution : null);
  });
  if (points === null) return lines;
  const rounding = 100 * integerPoints(points) - hundredths(points);
  return rounding === 0 ? lines : [...lines, plainLine(dimension.name, "rounding", rounding)];
}

/** Points rounded to an integer, halves up. */
export function integerPoints(points: Points): number {
  return divideRound(points, MICRO);
}

/** Points rounded to hundredths, halves up. */
export function hundredths(points: Points): number {
  return divideRound(points, MICRO / 100);
}

/** A line that is no feature: a cap, an effect, a rounding; its contribution in hundredths of a point. */
export function plainLine(
  dimension: FeatureLine["dimension"],
  name: string,
  contribution: number,
  reason: string | null = null,
): FeatureLine {
  return {
    dimension,
    name,
    value: contribution / 100,
    unit: "points",
    samples: 0,
    state: "measured",
    score: null,
    weight: 0,
    contribution,
    reason,
  };
}

function lineOf(rule: FeatureRule, feature: Feature, contribution: number | null): FeatureLine {
  return {
    dimension: rule.dimension,
    name: rule.name,
    value: feature.value,
    unit: rule.unit,
    samples: feature.samples,
    state: feature.state,
    score: feature.scoreMicros === null ? null : feature.scoreMicros / MICRO,
    weight: rule.weightPercent / 100,
    contribution,
    reason: feature.reason,
  };
}

/** Hundredths of a point per feature: rounded down, and what is missing to the largest remainders, earlier features first. */
function contributions({ rules, features }: Dimension, points: Points): readonly number[] {
  const divisor = weigh(rules, features).weight * (MICRO / 100);
  const parts = rules.map((rule, position) => {
    const share = weightOf(rule, featureAt(features, position));
    return { position, whole: Math.floor(share / divisor), rest: share % divisor };
  });
  const missing = hundredths(points) - parts.reduce((sum, part) => sum + part.whole, 0);
  const raised = new Set(
    parts
      .toSorted((a, b) => b.rest - a.rest || a.position - b.position)
      .slice(0, missing)
      .map((part) => part.position),
  );
  return parts.map((part) => part.whole + (raised.has(part.position) ? 1 : 0));
}

function weigh(rules: readonly FeatureRule[], features: readonly Feature[]) {
  let sum = 0;
  let weight = 0;
  for (const [position, rule] of rules.entries()) {
    const feature = featureAt(features, position);
    if (feature.state !== "measured") continue;
    sum += weightOf(rule, feature);
    weight += rule.weightPercent;
  }
  return { sum, weight };
}

function weightOf(rule: FeatureRule, feature: Feature): number {
  return feature.state === "measured" ? rule.weightPercent * feature.scoreMicros : 0;
}

function featureOf(rule: FeatureRule, features: readonly Feature[]): Feature {
  const feature = features.find(({ name }) => name === rule.name);
  if (feature === undefined) throw new Error(`no measurement of ${rule.name} was given`);
  return feature;
}

function featureAt(features: readonly Feature[], position: number): Feature {
  const feature = features[position];
  if (feature === undefined) throw new RangeError(`${features.length} features, none at ${position}`);
  return feature;
}
