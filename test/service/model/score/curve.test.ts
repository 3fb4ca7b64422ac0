import { expect, test } from "vitest";
import { readCurve } from "../../../../service/model/score/curve.ts";

const CURVE = [
  [0.6, 0],
  [0.8, 35],
  [1, 100],
] as const;

test.each([
  ["before the first anchor", 0, 0],
  ["at an anchor", 0.8, 35],
  ["between anchors", 0.7, 17.5],
  ["after the last anchor", 2, 100],
])("%s", (_, x, y) => {
  expect(readCurve(CURVE, x)).toBeCloseTo(y, 10);
});

test("a curve needs an anchor", () => {
  expect(() => readCurve([], 1)).toThrow("a curve needs an anchor");
});
