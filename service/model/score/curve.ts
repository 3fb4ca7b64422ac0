import type { Curve } from "./policy-shape.ts";

/** Reads a piecewise linear curve at x, flat outside its anchors; throws on a curve without anchors. */
export function readCurve(curve: Curve, x: number): number {
  let left = curve[0];
  if (left === undefined) throw new RangeError("a curve needs an anchor");
  for (const right of curve) {
    if (x <= right[0]) {
      if (right === left) return right[1];
      return left[1] + ((right[1] - left[1]) * (x - left[0])) / (right[0] - left[0]);
    }
    left = right;
  }
  return left[1];
}
