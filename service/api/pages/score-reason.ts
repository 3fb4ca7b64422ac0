import { AHS_2026_2 } from "../../model/score/policy.ts";
import { gradeReason } from "../../reports/explain-score.ts";
import type { ScoreReference, WalletSnapshot } from "../../scores/stored-score.ts";

/** One sentence: why the wallet has its grade, as in the record. Null if the wallet was never scored. */
export function reasonOf({
  snapshot: { sanctions, score },
  reference,
}: {
  readonly snapshot: Pick<WalletSnapshot, "sanctions" | "score">;
  readonly reference: ScoreReference | null;
}): string | null {
  const sanctioned = sanctions.length > 0;
  if (!sanctioned && (score === null || reference === null)) return null;
  return gradeReason(
    {
      ahsScore: score?.ahsScore ?? null,
      grade: score?.grade ?? null,
      sanctioned,
      features: reference?.features ?? [],
      patterns: reference?.patterns ?? [],
    },
    AHS_2026_2,
  );
}
