import type { FeatureLine, ScoreRecord } from "../score/record.ts";
import type { RecordedScore } from "./recorded-score.ts";

/** One member of a record that comes out otherwise when it is computed again. */
export type Difference = {
  readonly what: string;
  readonly recorded: string;
  readonly recomputed: string;
};

const MICROS = 1_000_000;

/** Everything in which a recorded score differs from the one computed again, inputs first; empty where they agree. */
export function compareScores(recorded: RecordedScore, recomputed: ScoreRecord): readonly Difference[] {
  const { outcome } = recomputed;
  const points =
    outcome.kind === "scored" ? outcome : { ahsScore: null, d1Score: null, d2Score: null, grade: null };
  return [
    ...compareLines(recorded.features, recomputed.features),
    ...[
      difference("d1_score", recorded.d1_score, points.d1Score),
      difference("d2_score", recorded.d2_score, points.d2Score),
      difference(
        "patterns",
        recorded.patterns.map(patternText).join(),
        recomputed.patterns.map(patternText).join(),
      ),
      difference(
        "sanctions_flags",
        recorded.sanctions_flags.map(flagText).join(),
        recomputed.sanctionsFlags.map(flagText).join(),
      ),
      difference("ahs_score", recorded.ahs_score, points.ahsScore),
      difference("grade", recorded.grade, points.grade),
      difference("confidence", recorded.confidence, recomputed.confidenceMicros / MICROS),
      difference("confidence_level", recorded.confidence_level, recomputed.confidenceLevel),
      difference("model_version", recorded.model_version, recomputed.modelVersion),
    ].filter((found) => found !== null),
  ];
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

type RecordedLine = RecordedScore["features"][number];

function compareLines(
  recorded: readonly RecordedLine[],
  recomputed: readonly FeatureLine[],
): readonly Difference[] {
  const names = new Set([...recorded, ...recomputed].map(nameOf));
  return [...names].flatMap((name) => {
    const found = difference(
      name,
      lineText(recorded.find((line) => nameOf(line) === name)),
      lineText(recomputed.find((line) => nameOf(line) === name)),
    );
    return found === null ? [] : [found];
  });
}

function nameOf({ dimension, name }: { readonly dimension: string; readonly name: string }): string {
  return `${dimension} ${name}`;
}

function lineText(line: Omit<RecordedLine, "dimension" | "name"> | undefined): string {
  if (line === undefined) return "no such line";
  const { state, value, samples, score, contribution } = line;
  if (state !== "measured") return state;
  return `value ${value}, ${samples} samples, score ${score ?? "–"}, contribution ${contribution ?? "–"}`;
}

function patternText({ name, effect }: { readonly name: string; readonly effect: number }): string {
  return `${name} ${effect}`;
}

function flagText({ source, reference }: { readonly source: string; readonly reference: string }): string {
  return `${source} ${reference}`;
}
