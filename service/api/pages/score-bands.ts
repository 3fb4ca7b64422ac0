import { AHS_2026_1 } from "../../model/score/policy.ts";
import type { Grade } from "../../model/score/record.ts";
import { GRADES } from "./page-words.ts";

/** The scores of one grade, both ends included. */
export type ScoreBand = { readonly grade: Grade; readonly from: number; readonly to: number };

const FLOORS: Readonly<Record<Grade, number>> = { ...AHS_2026_1.grades, F: 0 };

/** Which scores each grade has, A first, by the policy that scores. */
export const SCORE_BANDS: readonly ScoreBand[] = GRADES.map((grade, index) => {
  const better = GRADES[index - 1];
  return { grade, from: FLOORS[grade], to: better === undefined ? 100 : FLOORS[better] - 1 };
});

/** The band of one grade. */
export function bandOf(grade: Grade): ScoreBand {
  return { grade, from: FLOORS[grade], to: SCORE_BANDS.find((band) => band.grade === grade)?.to ?? 100 };
}
