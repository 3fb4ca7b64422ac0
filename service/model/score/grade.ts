import type { Policy } from "./policy-shape.ts";
import type { Grade } from "./record.ts";

const LABELS: Readonly<Record<Grade, string>> = {
  A: "Excellent",
  B: "Good",
  C: "Needs Attention",
  D: "Degraded",
  E: "Critical",
  F: "Failing",
};

/** Grade of an integer score, by the points that each grade starts at. */
export function gradeOf(score: number, grades: Policy["grades"]): Grade {
  if (score >= grades.A) return "A";
  if (score >= grades.B) return "B";
  if (score >= grades.C) return "C";
  if (score >= grades.D) return "D";
  if (score >= grades.E) return "E";
  return "F";
}

/** Text for a grade; null, a record without enough history, is "Insufficient history". */
export function gradeLabel(grade: Grade | null): string {
  return grade === null ? "Insufficient history" : LABELS[grade];
}
