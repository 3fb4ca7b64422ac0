import type { FeatureLine } from "./record.ts";

/** A cap, an effect or a rounding; its points go to the total of its dimension. */
type Adjustment = Pick<FeatureLine, "dimension" | "name" | "reason"> & { readonly points: number };

/** Share of a dimension in the score: its unrounded points, its weight, and their product. */
type DimensionShare = {
  readonly name: string;
  readonly score: number;
  readonly weight: number;
  readonly points: number;
};

/**
 * The lines of a record as answers show them, numbers rounded and contributions in points. Of a scored record the
 * contributions of a dimension's features and its adjustments add up to the integer dimension score. The points of the
 * dimensions and the adjustments of AHS add up to the score.
 */
export function shownLines(lines: readonly FeatureLine[]) {
  const features: FeatureLine[] = [];
  const dimensions: DimensionShare[] = [];
  const adjustments: Adjustment[] = [];
  for (const line of lines) {
    const { dimension, name, reason, score, weight, state } = line;
    const points = pointsOf(line);
    if (dimension === "AHS" && weight > 0 && score !== null) {
      dimensions.push({ name, score: round(score, 100), weight: round(weight, 10_000), points: points ?? 0 });
    } else if (dimension === "AHS" || (state === "measured" && score === null)) {
      adjustments.push({ dimension, name, reason, points: points ?? 0 });
    } else {
      features.push({
        ...line,
        value: line.value === null ? null : round(line.value, 10_000),
        score: score === null ? null : round(score, 100),
        weight: round(weight, 10_000),
        contribution: points,
      });
    }
  }
  return { features, dimensions, adjustments };
}

/** Confidence in answers: to a thousandth, rounded down so that no level's bound is reached by rounding. */
export function shownConfidence(micros: number): number {
  return Math.floor(micros / 1_000) / 1_000;
}

function pointsOf({ contribution }: FeatureLine): number | null {
  return contribution === null ? null : contribution / 100;
}

/** Rounds to a part of one: a hundredth, or a ten thousandth. */
function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}
