import { type Address, type Hash, isAddress } from "viem";
import { z } from "zod";
import type { FeatureLine, ScoreRecord } from "../../model/score/record.ts";
import { defaultAction } from "../../model/score/route.ts";
import { shownConfidence, shownLines } from "../../model/score/shown-lines.ts";

const hash = z.custom<Hash>((value) => typeof value === "string" && /^0x[0-9a-f]{64}$/.test(value));
const score = z.int().min(0).max(100).nullable();

const nullableNumber = z.number().nullable();
const feature = z.object({
  dimension: z.string(),
  name: z.string(),
  value: nullableNumber,
  samples: z.number(),
  state: z.string(),
  score: nullableNumber,
  weight: z.number(),
  contribution: nullableNumber,
});
const share = z.object({ dimension: z.string(), score: z.number(), weight: z.number(), points: z.number() });
const adjustment = z.object({ dimension: z.string(), name: z.string(), points: z.number() });

/** Verified members of an answer of GET /ahs/{address}?include=features; members outside the score are left out. */
export const recordedScoreSchema = z.object({
  address: z
    .custom<Address>((value) => typeof value === "string" && isAddress(value, { strict: false }))
    .transform((address) => address.toLowerCase() as Address),
  ahs_score: score,
  grade: z.string().nullable(),
  d1_score: score,
  d2_score: score,
  mode: z.enum(["2D", "3D"]),
  trust_routing: z.string(),
  confidence: z.number(),
  confidence_level: z.string(),
  patterns: z.array(z.object({ name: z.string(), effect: z.number() })),
  sanctions_flags: z.array(z.object({ source: z.string(), reference: z.string() })),
  model_version: z.string(),
  chain_id: z.int(),
  as_of_block: z.int().nonnegative(),
  as_of_time: z.string(),
  inputs_hash: hash,
  coverage: z.object({ to_block: z.int().nonnegative() }),
  features: z.array(feature),
  dimensions: z.array(share),
  adjustments: z.array(adjustment),
});

export type RecordedScore = z.infer<typeof recordedScoreSchema>;

/** One member of a record that comes out otherwise when it is computed again. */
export type Difference = {
  readonly what: string;
  readonly recorded: string;
  readonly recomputed: string;
};

/**
 * Everything in which a recorded score differs from the one computed again; empty where they agree. Probes of services are
 * in no file: of an answer with D3 only the parts are compared that follow without them.
 */
export function compareScores(recorded: RecordedScore, recomputed: ScoreRecord): readonly Difference[] {
  const { outcome } = recomputed;
  const points =
    outcome.kind === "scored" ? outcome : { ahsScore: null, d1Score: null, d2Score: null, grade: null };
  const total =
    recorded.mode === "3D"
      ? []
      : [
          difference("ahs_score", recorded.ahs_score, points.ahsScore),
          difference("grade", recorded.grade, points.grade),
        ];
  const patternsOf = ({ patterns }: Pick<RecordedScore, "patterns"> | Pick<ScoreRecord, "patterns">) =>
    patterns.map(({ name, effect }) => `${name} ${effect}`).join();
  const flagsOf = (flags: RecordedScore["sanctions_flags"] | ScoreRecord["sanctionsFlags"]) =>
    flags.map(({ source, reference }) => `${source} ${reference}`).join();
  return [
    ...compareLines(recorded, recomputed.features),
    ...[
      difference("d1_score", recorded.d1_score, points.d1Score),
      difference("d2_score", recorded.d2_score, points.d2Score),
      difference("patterns", patternsOf(recorded), patternsOf(recomputed)),
      difference("sanctions_flags", flagsOf(recorded.sanctions_flags), flagsOf(recomputed.sanctionsFlags)),
      ...total,
      difference("trust_routing", recorded.trust_routing, routingOf(recomputed)),
      difference("confidence", recorded.confidence, shownConfidence(recomputed.confidenceMicros)),
      difference("confidence_level", recorded.confidence_level, recomputed.confidenceLevel),
      difference("model_version", recorded.model_version, recomputed.modelVersion),
      difference("as_of_time", recorded.as_of_time, new Date(recomputed.asOf.timestamp * 1000).toISOString()),
    ].filter((found) => found !== null),
  ];
}

function routingOf({ outcome, sanctionsFlags, confidenceLevel }: ScoreRecord): string {
  const grade = outcome.kind === "scored" ? outcome.grade : null;
  return defaultAction({ sanctioned: sanctionsFlags.length > 0, score: { grade, confidenceLevel } });
}

/** A difference between two values, null where they are the same. */
export function difference(
  what: string,
  recorded: string | number | boolean | null,
  recomputed: string | number | boolean | null,
): Difference | null {
  if (recorded === recomputed) return null;
  return { what, recorded: String(recorded), recomputed: String(recomputed) };
}

function compareLines(recorded: RecordedScore, recomputed: readonly FeatureLine[]): readonly Difference[] {
  const { features, dimensions, adjustments } = shownLines(recomputed);
  const given = linesOf(recorded);
  const found = linesOf({
    mode: recorded.mode,
    features,
    dimensions: dimensions.map(({ name, ...rest }) => ({ dimension: name.toUpperCase(), ...rest })),
    adjustments,
  });
  return [...new Set([...given.keys(), ...found.keys()])]
    .map((name) => difference(name, given.get(name) ?? "no such line", found.get(name) ?? "no such line"))
    .filter((differs) => differs !== null);
}

/** The lines that follow without probes, by dimension and name. */
function linesOf({
  mode,
  features,
  dimensions,
  adjustments,
}: Pick<RecordedScore, "mode" | "features" | "dimensions" | "adjustments">): ReadonlyMap<string, string> {
  const isCompared = (dimension: string) => dimension !== "D3" && (mode === "2D" || dimension !== "AHS");
  const shares = mode === "2D" ? dimensions : [];
  const texts = [
    ...features.map((line) => ({ of: line.dimension, name: line.name, text: featureText(line) })),
    ...shares.map(({ dimension, score, weight, points }) => {
      return { of: "AHS", name: dimension, text: `score ${score}, weight ${weight}, points ${points}` };
    }),
    ...adjustments
      // It has no points, and records of older versions lack it.
      .filter(({ name }) => name !== "evidence")
      .map(({ dimension, name, points }) => ({ of: dimension, name, text: `points ${points}` })),
  ].filter(({ of }) => isCompared(of));
  // A line that is recorded twice must not hide behind the true one.
  const byName = Map.groupBy(texts, ({ of, name }) => `${of} ${name}`);
  return new Map([...byName].map(([name, same]) => [name, same.map(({ text }) => text).join("; ")]));
}

function featureText(compared: z.infer<typeof feature>): string {
  const { state, value, samples, score, weight, contribution } = compared;
  if (state !== "measured") return `${state}, weight ${weight}`;
  return `value ${value}, ${samples} samples, score ${score ?? "–"}, weight ${weight}, contribution ${contribution ?? "–"}`;
}
