import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import { benchmark, percentileOf } from "../../../service/reports/report-card.ts";

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
      const { scoredWallets, grades, tenths } = benchmark(50, distribution, AHS_2026_2.grades);
      const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
      expect(sum(Object.values(grades))).toBe(scoredWallets);
      expect(sum(tenths)).toBe(scoredWallets);
    }),
  );
});

describe("the percentile of a score", () => {
  it("counts half of its equals, and is unknown among none", () => {
    const distribution = [
      { score: 10, wallets: 1 },
      { score: 100, wallets: 3 },
    ];
    expect(percentileOf(100, distribution)).toBe(62.5);
    expect(percentileOf(10, distribution)).toBe(12.5);
    expect(percentileOf(50, distribution)).toBe(25);
    expect(percentileOf(50, [])).toBeNull();
    expect(benchmark(null, distribution, AHS_2026_2.grades)).toMatchObject({
      percentile: null,
      averageScore: 77.5,
    });
    expect(benchmark(100, distribution, AHS_2026_2.grades).tenths).toEqual([0, 1, 0, 0, 0, 0, 0, 0, 0, 3]);
    expect(benchmark(1, [], AHS_2026_2.grades)).toMatchObject({ scoredWallets: 0, averageScore: null });
  });
});
