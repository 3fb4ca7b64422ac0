import { describe, expect, test } from "vitest";
import { AHS_2026_0 } from "../../../service/score/policy.ts";

describe("AHS-2026.0", () => {
  test.each(["D1", "D2"] as const)("the weights of %s add up to 100 percent", (dimension) => {
    const weights = AHS_2026_0.features.filter((rule) => rule.dimension === dimension);
    expect(weights.reduce((sum, rule) => sum + rule.weightPercent, 0)).toBe(100);
  });

  test("declares every feature of the model, and says why some are not computed", () => {
    expect(AHS_2026_0.features.map(({ name, unknownBecause }) => [name, unknownBecause !== null])).toEqual([
      ["success_rate", false],
      ["gas_efficiency", false],
      ["portfolio_quality", true],
      ["dust_and_spam", true],
      ["risk_flags", true],
      ["timing_regularity", false],
      ["counterparty_diversity", false],
      ["adaptation", true],
      ["failure_recovery", false],
      ["consistency", false],
    ]);
  });

  test("every curve has rising anchors and runs one way", () => {
    const found = curvesIn(AHS_2026_0);
    expect(found).toHaveLength(9);
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
