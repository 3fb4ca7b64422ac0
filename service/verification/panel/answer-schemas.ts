import { z } from "zod";
import { ANSWER_LIMITS, cutChallenges, cutList, cutText } from "./cut-answers.ts";
import type { AnswerShape } from "./model-port.ts";
import { MAX_CRITERIA } from "./policy.ts";
import { GENERATOR_ROLES } from "./types.ts";

const { quote: QUOTE, point: POINT, reason: REASON } = ANSWER_LIMITS;

/** Nothing that no database takes. What is too long is cut at its end, since that invents nothing, and an answer is not lost for it. */
const words = (limit: number) =>
  z
    .string()
    .refine((text) => text.isWellFormed() && !text.includes("\0"))
    .overwrite((text) => cutText(text, limit));
const point = words(POINT).refine((text) => text.trim() !== "");
const points = z.array(point).overwrite(cutList);
/** Never cut: what is no id is off the schema. */
const criterionId = z.string().max(8);
const confidence = z.number().min(0).max(1);

/** A generator's answer as it goes over the wire. */
export const ballotWire = z.strictObject({
  score: z.int().min(0).max(100).describe("Whole number on the scale of your instructions"),
  confidence: confidence.describe("Your chance to be right, as a fraction of one"),
  criteria: z
    .array(
      z.strictObject({
        id: criterionId.describe("Id of a criterion; each is answered once"),
        met: z.enum(["yes", "no", "unclear"]),
        evidence: words(QUOTE).describe("A short quotation, or what is missing"),
      }),
    )
    .max(MAX_CRITERIA),
  objections: points,
  uncheckable_claims: points.describe("Quotations from the output"),
  instructions_found: points.describe("Quotations from any block"),
  reasoning: words(REASON),
});

/** The critic's answer as it goes over the wire. */
export const critiqueWire = z.strictObject({
  challenges: z
    .array(
      z.strictObject({
        role: z.enum(GENERATOR_ROLES),
        quote: words(QUOTE).describe("Words of that ballot or of the output, copied exactly"),
        reason: point,
      }),
    )
    .overwrite(cutChallenges),
  missed_issues: z.array(z.strictObject({ issue: point, quote: words(QUOTE) })).overwrite(cutList),
  fabrication_risk: z.enum(["none", "low", "medium", "high"]),
  fabrication_reason: words(POINT),
  spec_gaming: z.boolean(),
  spec_gaming_reason: words(POINT),
  case_for: words(REASON),
  case_against: words(REASON),
  confidence: confidence.describe("Your chance to be right, as a fraction of one"),
});

/** The synthesiser's answer as it goes over the wire. */
export const synthesisWire = z.strictObject({
  met_criteria: z.array(criterionId).max(MAX_CRITERIA).describe("Ids of criteria"),
  unmet_criteria: z
    .array(
      z.strictObject({
        id: criterionId.describe("Id of a criterion"),
        evidence: words(QUOTE).describe("A short quotation, or what is missing"),
      }),
    )
    .max(MAX_CRITERIA),
  key_objections: points,
  reasoning: words(REASON),
  strongest_dissent: words(REASON),
});

/** Lengths and ranges are no part of strict schemas on every server: a keyword that it does not know is refused. */
const NOT_EVERYWHERE = new Set([
  "$schema",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
]);

/** What servers with structured outputs are given for the three kinds of answers. */
export const ANSWER_SHAPES = {
  ballot: shapeOf("ballot", ballotWire),
  critique: shapeOf("critique", critiqueWire),
  synthesis: shapeOf("synthesis", synthesisWire),
} as const satisfies Record<AnswerShape["name"], AnswerShape>;

function shapeOf(name: AnswerShape["name"], schema: z.ZodType): AnswerShape {
  return { name, jsonSchema: plain(z.toJSONSchema(schema)) as Record<string, unknown> };
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([key]) => !NOT_EVERYWHERE.has(key));
  return Object.fromEntries(members.map(([key, member]) => [key, plain(member)]));
}
