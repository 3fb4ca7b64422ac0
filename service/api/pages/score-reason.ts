import type { FeatureLine } from "../../model/score/record.ts";
import { isFeature, sentenceOf, titleOf } from "../../reports/report-card.ts";
import type { ScoreReference, WalletSnapshot } from "../../scores/scores.ts";

/** One sentence: what the grade of a wallet comes from. Null without a score. */
export function reasonOf({
  snapshot,
  reference,
}: {
  readonly snapshot: Pick<WalletSnapshot, "sanctions" | "score">;
  readonly reference: ScoreReference | null;
}): string | null {
  if (snapshot.sanctions.length > 0) return "The wallet is on a sanctions list, which sets its score to 0.";
  if (snapshot.score?.ahsScore == null || reference === null) return null;
  const [pattern] = reference.patterns.toSorted((a, b) => a.effect - b.effect);
  if (pattern !== undefined && pattern.effect < 0)
    return `${titleOf(pattern.name)} costs the most points: ${withStop(pattern.evidence)}`;
  const [worst] = reference.features.filter(isFeature).toSorted((a, b) => lossOf(b) - lossOf(a));
  if (worst === undefined || lossOf(worst) < LEAST_LOSS)
    return "No measured feature costs more than a few points.";
  return `${titleOf(worst.name)} costs the most points: ${withStop(sentenceOf(worst, null))}`;
}

/** Points of a dimension from which a feature is worth naming. */
const LEAST_LOSS = 4;

/** Points that a feature misses within its dimension. */
function lossOf({ score, weight }: FeatureLine): number {
  return score === null ? 0 : weight * (100 - score);
}

function withStop(text: string): string {
  const small = text.charAt(0).toLowerCase() + text.slice(1);
  return small.endsWith(".") ? small : `${small}.`;
}
