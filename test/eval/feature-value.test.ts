import { describe, expect, test } from "vitest";
import { type FeatureView, strongestCorrelation, valuesOf } from "../../eval/feature-value.ts";
import { AHS_2026_2 } from "../../service/model/score/policy.ts";

const policy = {
  ...AHS_2026_2,
  features: AHS_2026_2.features.filter(({ name }) =>
    ["success_rate", "adaptation", "consistency"].includes(name),
  ),
};

/** Ten wallets, of which the first three fail; adaptation knows it, consistency is measured for half of them. */
const VIEWS: readonly FeatureView[] = Array.from({ length: 10 }, (_, i) => ({
  points: new Map([
    ["success_rate", 50],
    ["adaptation", 10 * i],
    ...(i % 2 === 0 ? [["consistency", 100 - i] as const] : []),
  ]),
  scoreWithout: new Map([
    ["success_rate", i],
    ["adaptation", 50],
    ["consistency", i === 0 ? null : i],
  ]),
  successRate: (i * 7) % 10,
  fails: i < 3,
  loses: false,
}));

describe("the value of a feature", () => {
  test("is measured by its points alone, by the score without it, and by its correlation with success", () => {
    const [success, adaptation, consistency] = valuesOf(VIEWS, policy);
    expect(success).toMatchObject({ name: "success_rate", dimension: "D1", measured: 1, with_success: null });
    expect(success?.without).toEqual({ failing: 1, losing: null });
    expect(adaptation?.alone).toEqual({ failing: 1, losing: null });
    expect(adaptation?.without.failing).toBe(0.5);
    expect(consistency?.measured).toBe(0.5);
    expect(consistency?.alone.failing).toBe(0);
  });

  test("the strongest correlation is that of the two most alike or most opposite, success among them", () => {
    const strongest = strongestCorrelation(VIEWS, policy);
    expect(strongest.between).toEqual(["adaptation", "consistency"]);
    expect(strongest.rho).toBeCloseTo(-1, 12);
  });
});
