import { describe, expect, test } from "vitest";
import { GWEI, START } from "./histories.ts";
import { measureFeature, pointsOf, repeat } from "./measured.ts";

const call = { at: START, gasLimit: 100_000n, gasUsed: 80_000n, fee: 1_000n };
const unpriced = { ...call, marketPrice: null };

describe("gas efficiency", () => {
  test("is whole without failures, at the market's price and with tight limits", () => {
    expect(pointsOf("gas_efficiency", repeat(24, 60, call))).toBe(100);
  });

  test("counts the fees that failures burnt, over all fees and ten mean ones", () => {
    const failed = { ...call, at: START + 30, ok: false };
    // 2 of 10 calls failed: 2 / (2 + 8 + 10).
    const { value } = measureFeature("gas_efficiency", [...repeat(8, 1, call), ...repeat(2, 1, failed)]);
    expect(value).toBeCloseTo(0.1, 3);
  });

  test("counts a dear failure more than a cheap one", () => {
    const steps = (fee: bigint) => [...repeat(20, 1, call), { ...call, at: START + 30, ok: false, fee }];
    expect(pointsOf("gas_efficiency", steps(50_000n))).toBeLessThan(
      pointsOf("gas_efficiency", steps(100n)) - 15,
    );
  });

  test.each([
    [0.01, 10],
    [0.06, 25],
    [0.25, 70],
    [0.4, 100],
    [1, 100],
  ])("gives %d of the limit used %d points in its 15 percent", (share, points) => {
    const gasUsed = BigInt(1_000_000 * share);
    const score = pointsOf("gas_efficiency", repeat(10, 60, { ...call, gasLimit: 1_000_000n, gasUsed }));
    expect(score).toBeCloseTo(85 + 0.15 * points, 4);
  });

  test.each([
    [125, 100],
    [150, 85],
    [200, 60],
    [400, 15],
    [500, 0],
    [2_000, 0],
  ])("gives %d %% of the market's price %d points in its 35 percent", (percent, points) => {
    const gasPrice = (GWEI * BigInt(percent)) / 100n;
    expect(pointsOf("gas_efficiency", repeat(10, 60, { ...call, gasPrice }))).toBeCloseTo(
      65 + 0.35 * points,
      4,
    );
  });

  test("judges the prices of failed calls as well", () => {
    const dear = { ...call, gasPrice: 10n * GWEI, ok: false, fee: 0n };
    const steps = (gasPrice: bigint) => [...repeat(10, 60, call), ...repeat(10, 60, { ...dear, gasPrice })];
    expect(pointsOf("gas_efficiency", steps(5n * GWEI))).toBeCloseTo(
      pointsOf("gas_efficiency", steps(GWEI)) - 17.5,
      2,
    );
  });

  test("without the market's price is waste and limits alone, and says so", () => {
    const gasUsed = 10_000n;
    const feature = measureFeature("gas_efficiency", repeat(10, 60, { ...unpriced, gasUsed }));
    expect(feature).toMatchObject({
      state: "measured",
      scoreMicros: 1e6 * (77 + 0.23 * 40),
      reason: "waste 100, limit 40 points; no block tells what the market paid",
    });
    expect(pointsOf("gas_efficiency", repeat(10, 60, { ...call, read: false, gasUsed }))).toBeCloseTo(
      86.2,
      4,
    );
  });

  test("compares prices where some blocks tell one", () => {
    const steps = [...repeat(10, 60, unpriced), { ...call, at: START + 700, gasPrice: 5n * GWEI }];
    expect(measureFeature("gas_efficiency", steps)).toMatchObject({
      scoreMicros: 65e6,
      reason: "waste 100, price 0, limit 100 points",
    });
  });

  test("burns nothing on a chain without fees", () => {
    const steps = [...repeat(9, 60, { ...call, fee: 0n }), { ...call, at: START + 900, ok: false, fee: 0n }];
    expect(measureFeature("gas_efficiency", steps)).toMatchObject({ value: 0, state: "measured" });
  });
});
