import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { benchmark, percentileOf } from "../../../service/diagnose/report-card-benchmark.ts";
import { isFeature, sentenceOf, titleOf } from "../../../service/diagnose/report-card-words.ts";
import { AHS_2026_1 } from "../../../service/score/policy.ts";
import type { FeatureLine } from "../../../service/score/record.ts";

const distributions = fc
  .uniqueArray(
    fc.record({ score: fc.integer({ min: 0, max: 100 }), wallets: fc.integer({ min: 1, max: 1e6 }) }),
    {
      selector: ({ score }) => score,
    },
  )
  .map((list) => list.toSorted((one, other) => one.score - other.score));
const scores = fc.integer({ min: 0, max: 100 });

test("a higher score never has a lower percentile, and every percentile lies between 0 and 100", () => {
  fc.assert(
    fc.property(distributions, scores, scores, (distribution, one, other) => {
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      const below = percentileOf(low, distribution);
      const above = percentileOf(high, distribution);
      if (below === null || above === null) return distribution.length === 0;
      return below <= above && below >= 0 && above <= 100;
    }),
  );
});

test("grades and tenths hold every wallet once", () => {
  fc.assert(
    fc.property(distributions, (distribution) => {
      const { scoredWallets, grades, tenths } = benchmark(50, distribution, AHS_2026_1.grades);
      const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
      expect(sum(Object.values(grades))).toBe(scoredWallets);
      expect(sum(tenths)).toBe(scoredWallets);
    }),
  );
});

describe("the standing of a score", () => {
  it("counts half of its equals, and is unknown among none", () => {
    const distribution = [
      { score: 10, wallets: 1 },
      { score: 100, wallets: 3 },
    ];
    expect(percentileOf(100, distribution)).toBe(62.5);
    expect(percentileOf(10, distribution)).toBe(12.5);
    expect(percentileOf(50, distribution)).toBe(25);
    expect(percentileOf(50, [])).toBeNull();
    expect(benchmark(null, distribution, AHS_2026_1.grades)).toMatchObject({
      percentile: null,
      averageScore: 77.5,
    });
    expect(benchmark(100, distribution, AHS_2026_1.grades).tenths).toEqual([0, 1, 0, 0, 0, 0, 0, 0, 0, 3]);
    expect(benchmark(1, [], AHS_2026_1.grades)).toMatchObject({ scoredWallets: 0, averageScore: null });
  });
});

const line = (changes: Partial<FeatureLine>): FeatureLine => ({
  ...{
    dimension: "D1",
    name: "success_rate",
    value: 0.5,
    unit: "share of calls",
    samples: 1,
    state: "measured",
  },
  ...{ score: 1, weight: 1, contribution: 1, reason: null },
  ...changes,
});

describe("the words of a report card", () => {
  it("exist for every feature of the model", () => {
    for (const { dimension, name } of AHS_2026_1.features) {
      expect(isFeature(line({ dimension, name }))).toBe(true);
      expect(titleOf(name)).toMatch(/^[A-Z]/);
      expect(sentenceOf(line({ name, value: 0.123456 }))).toMatch(/^[A-Z0-9].*[^.]$/);
    }
  });

  it("say what is not known or does not apply, and why", () => {
    expect(sentenceOf(line({ state: "unknown", value: null, reason: "not read" }))).toBe(
      "Not known: not read",
    );
    expect(sentenceOf(line({ state: "not_applicable", value: null }))).toBe("Does not apply");
    expect(sentenceOf(line({}))).toBe("50 % of 1 call succeed by weight");
  });

  it("fall back to the model's own for caps and effects", () => {
    expect(titleOf("weak_link")).toBe("Weak link");
    expect(isFeature(line({ name: "rounding" }))).toBe(false);
    expect(sentenceOf(line({ dimension: "AHS", name: "weak_link", value: -3.256, reason: null }))).toBe(
      "-3.26 points",
    );
  });
});
