import type { Grade } from "../../model/score/record.ts";

/** Of the picture: what link previews expect. */
export const CARD = { width: 1200, height: 630 } as const;

/** Light text on a dark ground, with a contrast of 4.5 and more. */
export const INK = {
  ground: "#0b1020",
  panel: "#141b30",
  rule: "#26304d",
  strong: "#f5f7ff",
  plain: "#c3cbe4",
  faint: "#8a95b8",
  brand: "#7c8cff",
  alarm: "#ff5d6c",
  caution: "#f5c542",
} as const;

const GRADES: Readonly<Record<Grade, string>> = {
  A: "#2fd27d",
  B: "#9bd84a",
  C: "#f5c542",
  D: "#ff9a4d",
  E: "#ff7350",
  F: "#ff5d6c",
};

/** The colour of a grade; of a wallet without one that of faint text. */
export function gradeColour(grade: Grade | null): string {
  return grade === null ? INK.faint : GRADES[grade];
}

/** The colour of a score by the grade that it would have. */
export function scoreColour(score: number | null): string {
  if (score === null) return INK.rule;
  if (score >= 90) return GRADES.A;
  if (score >= 75) return GRADES.B;
  if (score >= 60) return GRADES.C;
  return score >= 40 ? GRADES.D : GRADES.F;
}
