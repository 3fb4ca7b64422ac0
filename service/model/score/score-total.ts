import { divideRound, MICRO, toMicros } from "./fixed-point.ts";
import type { FeatureRule, Policy } from "./policy-shape.ts";
import type { Feature, FeatureLine, Pattern } from "./record.ts";

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
  const points = weight < 100 * policy.minMeasuredPercent ? null : divideRound(sum, weight);
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
function hundredths(points: Points): number {
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
    weight: (rule.weightPercent * (feature.state === "measured" ? feature.sharePercent : 100)) / 10_000,
    contribution,
    reason: feature.reason,
    ...(feature.state === "measured" && feature.inputs !== undefined ? { inputs: feature.inputs } : {}),
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

/** Sum of the measured features, and their weight, both in hundredths of a percent. */
function weigh(rules: readonly FeatureRule[], features: readonly Feature[]) {
  let sum = 0;
  let weight = 0;
  for (const [position, rule] of rules.entries()) {
    const feature = featureAt(features, position);
    if (feature.state !== "measured") continue;
    sum += weightOf(rule, feature);
    weight += rule.weightPercent * feature.sharePercent;
  }
  return { sum, weight };
}

function weightOf(rule: FeatureRule, feature: Feature): number {
  return feature.state === "measured" ? rule.weightPercent * feature.sharePercent * feature.scoreMicros : 0;
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

/** Parts of the total; points are those of the unrounded dimensions. */
type TotalParts = {
  readonly d1: Points;
  readonly d2: Points;
  readonly patterns: readonly Pattern[];
  readonly sanctioned: boolean;
};

/** The integer score, and the lines that lead to it: their contributions add up to 100 × the score. */
type Total = { readonly score: number; readonly lines: readonly FeatureLine[] };

type Ledger = { points: Points; readonly lines: FeatureLine[] };

/** Share of one dimension in the total. */
type Share = {
  readonly name: "d1" | "d2" | "d3";
  readonly points: Points;
  readonly percent: number;
};

/** Weighted dimensions, then the weak link, then pattern effects, then the limit of a sanction, each a line of its own. */
export function scoreTotal(parts: TotalParts, policy: Policy): Total {
  const { D1, D2 } = policy.dimensionPercent;
  const shares: readonly Share[] = [
    { name: "d1", points: parts.d1, percent: D1 },
    { name: "d2", points: parts.d2, percent: D2 },
  ];
  return addUp(shares, parts, policy);
}

/** A total once more with D3 in it: the dimensions weigh otherwise, the effects are those of the total given. */
export function scoreTotalWithD3(
  from: {
    readonly total: readonly FeatureLine[];
    readonly d3: Points;
    readonly patterns: readonly Pattern[];
    readonly sanctioned: boolean;
  },
  policy: Policy,
): Total {
  const { D1, D2, D3 } = policy.infrastructure.dimensionPercent;
  const d1 = pointsOf(from.total, "d1");
  const d2 = pointsOf(from.total, "d2");
  const shares: readonly Share[] = [
    { name: "d1", points: d1, percent: D1 },
    { name: "d2", points: d2, percent: D2 },
    { name: "d3", points: from.d3, percent: D3 },
  ];
  return addUp(shares, from, policy);
}

function addUp(
  shares: readonly Share[],
  { patterns, sanctioned }: Pick<TotalParts, "patterns" | "sanctioned">,
  policy: Policy,
): Total {
  const ledger = openLedger(shares);
  const hidden = hiddenBy(shares, policy);
  if (hidden > 0) {
    const reason = `wallet hygiene scores more than ${policy.weakLink.above} points below behaviour`;
    move(ledger, Math.max(0, ledger.points - hidden), { name: "weak_link", reason });
  }
  applyEffects(ledger, patterns, policy.patterns.floor);
  if (sanctioned && ledger.points > 0) {
    move(ledger, 0, { name: "sanctions", reason: "the wallet is on a sanctions list" });
  }
  const score = integerPoints(ledger.points);
  const rounding = 100 * score - hundredths(ledger.points);
  if (rounding !== 0) ledger.lines.push(plainLine("AHS", "rounding", rounding));
  return { score, lines: ledger.lines };
}

/** Points that poor hygiene takes besides its weight: a slope and no cap, so that no single call moves the total far. */
function hiddenBy(shares: readonly Share[], { weakLink }: Policy): Points {
  const pointsOfShare = (name: Share["name"]) => shares.find((share) => share.name === name)?.points ?? 0;
  const gap = pointsOfShare("d2") - pointsOfShare("d1") - weakLink.above * MICRO;
  return Math.round(weakLink.perPoint * Math.max(0, gap));
}

/** Hundredths are taken from the sums before and after a dimension, so that the lines add up to the rounded whole. */
function openLedger(shares: readonly Share[]): Ledger {
  let sum = 0;
  let points = 0;
  const lines = shares.map((share) => {
    sum += share.percent * share.points;
    const before = hundredths(points);
    points = divideRound(sum, 100);
    return dimensionLine(share, hundredths(points) - before);
  });
  return { points, lines };
}

function dimensionLine({ name, points, percent }: Share, contribution: number): FeatureLine {
  const score = points / MICRO;
  const weight = percent / 100;
  return { ...plainLine("AHS", name, contribution), value: score, score, weight };
}

/** The unrounded points of a dimension, exactly: its line shows them in millionths. */
function pointsOf(total: readonly FeatureLine[], name: Share["name"]): Points {
  const line = total.find((candidate) => candidate.dimension === "AHS" && candidate.name === name);
  if (line === undefined || line.score === null) throw new Error(`the total given has no line of ${name}`);
  return toMicros(line.score);
}

function applyEffects(ledger: Ledger, patterns: readonly Pattern[], floor: number): void {
  const start = ledger.points;
  for (const { name, effect, evidence } of patterns) {
    move(ledger, ledger.points + Math.round(effect * MICRO), { name, reason: evidence });
  }
  const lowest = Math.max(0, start + floor * MICRO);
  if (ledger.points >= lowest) return;
  move(ledger, lowest, {
    name: "pattern_limit",
    reason: `patterns together cost at most ${-floor} points, and no score is below 0`,
  });
}

/** Moves the total; hundredths are taken from the totals before and after, so that no rounding is lost between lines. */
function move(ledger: Ledger, to: Points, line: { readonly name: string; readonly reason: string }): void {
  const contribution = hundredths(to) - hundredths(ledger.points);
  ledger.points = to;
  if (contribution !== 0) ledger.lines.push(plainLine("AHS", line.name, contribution, line.reason));
}
