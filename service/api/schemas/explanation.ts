import { z } from "@hono/zod-openapi";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { FeatureLine } from "../../model/score/record.ts";
import { shownLines } from "../../model/score/shown-lines.ts";
import { bestImprovement, gradeReason, sentenceOf, titleOf } from "../../reports/explain-score.ts";
import type { StoredScore } from "../../scores/stored-score.ts";
import { num, text } from "./values.ts";

const featureNameSchema = z.string().openapi({ example: "success_rate" });
const titleSchema = z.string().openapi({ example: "Success rate" });

/** A feature of a score, in records and report cards. */
export const featureSchema = z
  .object({
    dimension: z.enum(["D1", "D2", "D3"]),
    name: featureNameSchema,
    title: titleSchema,
    says: text(
      "The measurement in one sentence. Counts are of what happened; the score uses estimates, see `value` and `inputs`",
      "217 of 224 calls to others succeeded (96.9%)",
    ),
    value: num(
      "What the curve of the feature reads, in `unit`: an estimate if the calls are few",
      0.9634,
    ).nullable(),
    unit: z.string().openapi({ example: "share of calls" }),
    samples: z.number().openapi({ example: 224 }),
    state: z.enum(["measured", "not_applicable", "unknown"]),
    score: num("0 to 100; null if not measured", 89.71).nullable(),
    weight: num("Share of the dimension, before the weights of unmeasured features are shared out", 0.3),
    contribution: num(
      "Points of the dimension. Of one dimension the contributions and its `adjustments` add up to the dimension score",
      26.92,
    ).nullable(),
    inputs: z.record(z.string(), z.number()).openapi({
      description:
        "Named numbers behind the value: counts, raw shares, estimates (`estimated_`) and points of parts",
      example: { calls: 224, succeeded: 217, succeeded_share: 0.969, estimated_share: 0.963 },
    }),
    reason: text("Why the feature is not measured").nullable().openapi({ example: null }),
  })
  .openapi("Feature");

/** A cap, an effect or a rounding. */
export const adjustmentSchema = z
  .object({
    dimension: z
      .enum(["D1", "D2", "D3", "AHS"])
      .openapi({ description: "The score that it changes", example: "AHS" }),
    name: z.string().openapi({
      description:
        "weak_link, sanctions, pattern_limit, rounding or the name of a pattern, the same in every answer and on every page. evidence, without a grade: which condition is missing",
      example: "weak_link",
    }),
    title: z.string().openapi({ example: "Weak link" }),
    points: num("Points that it adds or takes", -3.26),
    says: text("Why", "Wallet hygiene scores more than 20 points below behaviour"),
  })
  .openapi("ScoreAdjustment");

const dimensionShareSchema = z
  .object({
    dimension: z.enum(["D1", "D2", "D3"]),
    title: z.string().openapi({ example: "Wallet hygiene" }),
    score: num("0 to 100, before rounding to the integer dimension score", 89.73),
    weight: num("Share of the score", 0.3),
    points: num("score × weight", 26.92),
  })
  .openapi("DimensionShare");

/** Members that `include=features` adds. */
export const explanationShape = {
  features: z.array(featureSchema).openapi({ description: "The measured signals; no caps or roundings" }),
  dimensions: z.array(dimensionShareSchema).openapi({
    description: "What each dimension brings to the score; empty without a score",
  }),
  adjustments: z.array(adjustmentSchema).openapi({
    description:
      "Caps, effects and roundings. The points of `dimensions` and the adjustments of AHS add up to ahs_score",
  }),
} as const;

const improvementSchema = z
  .object({
    feature: featureNameSchema,
    title: titleSchema,
    says: text("What to do", "Simulate each call before sending it, and hold back the calls that would fail"),
    points: num("Points of the score that the full feature score would add, at most", 6.4),
  })
  .openapi("ScoreImprovement");

/** Members of every record and report card that explain it. */
export const reasonShape = {
  grade_reason: text(
    "Why the grade is what it is, in one sentence",
    "Grade B: 217 of 224 calls to others succeeded (96.9%); largest loss: 12.4% of its fees were spent on failed calls (gas efficiency, −7 points).",
  ),
  improvement: improvementSchema.nullable().openapi({
    description: "The change that raises the score most; null without a score, if listed, or below one point",
  }),
} as const;

/** The explanation of a record by its lines. */
export function renderExplanation(lines: readonly FeatureLine[]) {
  const { features, dimensions, adjustments } = shownLines(lines);
  return {
    features: features.map((line) => ({ ...renderFeature(line), dimension: measuredDimension(line) })),
    dimensions: dimensions.map(({ name, ...share }) => ({
      dimension: DIMENSIONS[name] ?? "D1",
      title: titleOf(name),
      ...share,
    })),
    adjustments: adjustments.map(({ dimension, name, points, reason }) => ({
      dimension,
      name,
      title: titleOf(name),
      points,
      says: reason === null ? ROUNDING : sentence(reason),
    })),
  };
}

/** Why a stored score has its grade, and what would raise it most. */
export function renderReason(
  { ahsScore, grade, sanctioned, features, patterns }: StoredScore,
  policy: Policy,
): z.infer<z.ZodObject<typeof reasonShape>> {
  const explained = { ahsScore, grade, sanctioned, features, patterns };
  return {
    grade_reason: gradeReason(explained, policy),
    improvement: bestImprovement(explained, policy),
  };
}

const ROUNDING = "Rounding to whole points";
const DIMENSIONS: Readonly<Record<string, "D1" | "D2" | "D3">> = { d1: "D1", d2: "D2", d3: "D3" };

function renderFeature(line: FeatureLine) {
  const { name, value, unit, samples, state, score, weight, contribution, reason, inputs } = line;
  return {
    name,
    title: titleOf(name),
    says: sentenceOf(line),
    value,
    unit,
    samples,
    state,
    score,
    weight,
    contribution,
    inputs: { ...inputs },
    reason,
  };
}

function measuredDimension({ dimension, name }: FeatureLine): "D1" | "D2" | "D3" {
  if (dimension === "AHS") throw new Error(`${name} is no feature of a dimension`);
  return dimension;
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
