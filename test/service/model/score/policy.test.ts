import { describe, expect, test } from "vitest";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";

describe("AHS-2026.2", () => {
  test.each(["D1", "D2"] as const)("the weights of %s add up to 100 percent", (dimension) => {
    const weights = AHS_2026_2.features.filter((rule) => rule.dimension === dimension);
    expect(weights.reduce((sum, rule) => sum + rule.weightPercent, 0)).toBe(100);
  });

  test("the weights of an answer with D3 add up to 100 percent", () => {
    const { dimensionPercent, features } = AHS_2026_2.infrastructure;
    expect(dimensionPercent.D1 + dimensionPercent.D2 + dimensionPercent.D3).toBe(100);
    expect(features.reduce((sum, rule) => sum + rule.weightPercent, 0)).toBe(100);
  });

  test("the shares of a feature's parts add up to one", () => {
    const { gas, timing, adaptation, consistency } = AHS_2026_2;
    expect(gas.wasteShare + gas.priceShare + gas.limitShare).toBe(1);
    expect(gas.unpriced.wasteShare + gas.unpriced.limitShare).toBe(1);
    expect(timing.burstShare + timing.silenceShare).toBe(1);
    expect(
      adaptation.blindShare + adaptation.gasLimitShare + adaptation.recentShare + adaptation.overpayShare,
    ).toBe(1);
    expect(consistency.activityShare + consistency.tenureShare + consistency.recentShare).toBe(1);
  });

  test("every curve has rising anchors and runs one way", () => {
    const found = curvesIn(AHS_2026_2);
    expect(found).toHaveLength(21);
    for (const curve of found) {
      const steps = curve
        .slice(1)
        .map(([x, y], i) => ({ dx: x - (curve[i]?.[0] ?? x), dy: y - (curve[i]?.[1] ?? y) }));
      expect(steps.every(({ dx }) => dx > 0)).toBe(true);
      expect(new Set(steps.map(({ dy }) => Math.sign(dy))).size).toBe(1);
    }
  });
});

function curvesIn(value: unknown): (readonly [number, number])[][] {
  if (Array.isArray(value) && Array.isArray(value[0])) return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(curvesIn);
}
