import { expect, test } from "vitest";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { gradeLabel, gradeOf } from "../../../../service/model/score/record.ts";

test.each([
  [100, "A", "Excellent"],
  [90, "A", "Excellent"],
  [89, "B", "Good"],
  [75, "B", "Good"],
  [74, "C", "Needs Attention"],
  [60, "C", "Needs Attention"],
  [59, "D", "Degraded"],
  [40, "D", "Degraded"],
  [39, "E", "Critical"],
  [20, "E", "Critical"],
  [19, "F", "Failing"],
  [0, "F", "Failing"],
] as const)("%d is %s, %s", (score, grade, label) => {
  expect(gradeOf(score, AHS_2026_2.grades)).toBe(grade);
  expect(gradeLabel(grade)).toBe(label);
});

test("no grade is insufficient history", () => {
  expect(gradeLabel(null)).toBe("Insufficient history");
});
