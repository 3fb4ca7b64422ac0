import { describe, expect, test } from "vitest";
import { seededRandom } from "../../devnet/population/random.ts";
import { areaUnderCurve, pairwiseOrder, quantile, rankCorrelation, worstBand } from "../../eval/measures.ts";

describe("area under the curve", () => {
  test("is 1 for an oracle, 0 for its opposite and a half for a constant", () => {
    expect(areaUnderCurve([3, 4, 5], [0, 1, 2])).toBe(1);
    expect(areaUnderCurve([0, 1, 2], [3, 4, 5])).toBe(0);
    expect(areaUnderCurve([7, 7], [7, 7, 7])).toBe(0.5);
  });

  test("counts the pairs in the right order, ties as halves", () => {
    // Of 2 × 3 pairs: 2 beats 1 and 1, ties 2; 1 ties 1 and 1, loses to 2.
    expect(areaUnderCurve([2, 1], [1, 1, 2])).toBeCloseTo((2 + 0.5 + 2 * 0.5) / 6, 12);
  });

  test("is near a half for groups drawn from one population", () => {
    const random = seededRandom("one population");
    const draw = () => Array.from({ length: 2_000 }, () => random.next());
    expect(areaUnderCurve(draw(), draw())).toBeCloseTo(0.5, 1);
  });

  test("is nothing without a group", () => {
    expect(areaUnderCurve([], [1])).toBeNull();
    expect(areaUnderCurve([1], [])).toBeNull();
  });
});

describe("pairwise order", () => {
  test("is 1 where every better tier scores higher", () => {
    const ranked = [1, 1, 2, 3, 3].map((tier) => ({ tier, score: 100 - tier }));
    expect(pairwiseOrder(ranked)).toBe(1);
  });

  test("counts pairs of all tiers, those of one tier not at all", () => {
    // 1 over 2: 90 > 95 is wrong, 96 > 95 right; 1 over 3: both right; 2 over 3 right.
    const ranked = [
      { tier: 1, score: 90 },
      { tier: 1, score: 96 },
      { tier: 2, score: 95 },
      { tier: 3, score: 10 },
    ];
    expect(pairwiseOrder(ranked)).toBeCloseTo(4 / 5, 12);
  });

  test("is nothing for a single tier", () => {
    expect(pairwiseOrder([{ tier: 1, score: 5 }])).toBeNull();
  });
});

describe("worst band", () => {
  test("finds a crowd that no round band holds", () => {
    expect(worstBand([35, 40, 54, 80, 10])).toEqual({ from: 35, share: 0.6 });
  });

  test("ends below its twentieth point, but for the top of the scale", () => {
    expect(worstBand([30, 50])).toEqual({ from: 11, share: 0.5 });
    expect(worstBand([80, 100])).toEqual({ from: 80, share: 1 });
  });

  test("is nothing without scores", () => {
    expect(worstBand([])).toBeNull();
  });
});

test("a quantile lies between the ranks", () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([4, 1, 3, 2], 0)).toBe(1);
  expect(quantile([4, 1, 3, 2], 1)).toBe(4);
  expect(quantile([], 0.5)).toBeNull();
});

describe("rank correlation", () => {
  test("is 1 for any rising relation, -1 for a falling one, and nothing for a constant", () => {
    expect(rankCorrelation([1, 2, 3, 10], [5, 6, 70, 71])).toBeCloseTo(1, 12);
    expect(rankCorrelation([1, 2, 3, 10], [9, 8, 7, -1])).toBeCloseTo(-1, 12);
    expect(rankCorrelation([1, 2], [3, 3])).toBeNull();
  });

  test("gives equal values their mean rank", () => {
    // Ranks 1.5, 1.5, 3, 4 beside 1, 2, 3, 4: covariance 4.5, squares 4.5 and 5.
    expect(rankCorrelation([7, 7, 8, 9], [1, 2, 3, 4])).toBeCloseTo(4.5 / Math.sqrt(4.5 * 5), 12);
  });

  test("refuses lists of different lengths", () => {
    expect(() => rankCorrelation([1], [1, 2])).toThrow("1 values beside 2");
  });
});
