import { describe, expect, test } from "vitest";
import { account, DAY, GWEI, HOUR, START, type Step } from "./histories.ts";
import { measureFeature, pointsOf, repeat } from "./measured.ts";

const calm = repeat(200, 600, { at: START + DAY, to: account(9) });
const failure: Step = { at: START, ok: false };

describe("adaptation", () => {
  test("of a wallet that never fails and pays the market's price is whole", () => {
    expect(measureFeature("adaptation", calm)).toMatchObject({
      value: 100,
      reason: "blind 0, out of gas 0, overpay 1; 100 points, 93.051 shrunk by n_q 47.558, gate 1",
    });
  });

  test("does not count three failures in a row of one call, but every one after them", () => {
    const pointsAfter = (failures: number) =>
      measureFeature("adaptation", [...calm, ...repeat(failures, 10, failure)]).value;
    expect(pointsAfter(3)).toBe(100);
    const values = [4, 5, 10, 40].map(pointsAfter);
    expect(values).toEqual(values.toSorted((a, b) => (b ?? 0) - (a ?? 0)));
    expect(new Set(values).size).toBe(4);
  });

  test("does not count failures of different calls, or with a success between", () => {
    const methods = repeat(12, 10, failure).map((step, i) => ({
      ...step,
      selector: `0x0000000${i % 4}` as const,
    }));
    const broken = repeat(16, 10, failure).map((step, i) => ({ ...step, ok: i % 4 === 3 }));
    expect(measureFeature("adaptation", [...calm, ...methods]).value).toBe(100);
    expect(measureFeature("adaptation", [...calm, ...broken]).value).toBe(100);
  });

  test.each([
    [97_999n, 100],
    [98_000n, null],
  ])("a failure that used %d of 100,000 gas ran out of it: %s", (gasUsed, points) => {
    const { value } = measureFeature("adaptation", [...calm, { ...failure, gasLimit: 100_000n, gasUsed }]);
    if (points === null) expect(value).toBeLessThan(98);
    else expect(value).toBe(points);
  });

  test("counts no success that used all of its gas", () => {
    expect(measureFeature("adaptation", [...calm, { at: START, gasUsed: 100_000n }]).value).toBe(100);
  });

  test.each([
    [150, 100],
    [250, 75],
    [400, 45],
    [800, 10],
    [9_000, 10],
  ])("is %d %% of the market's price, in the median, %d points", (percent, points) => {
    const dear = { gasPrice: (GWEI * BigInt(percent)) / 100n };
    const steps = calm.map((step, i) => (i % 5 < 3 ? { ...step, ...dear } : step));
    expect(measureFeature("adaptation", steps).value).toBe(points);
    const seldom = calm.map((step, i) => (i % 5 < 2 ? { ...step, ...dear } : step));
    expect(measureFeature("adaptation", seldom).value).toBe(100);
  });

  test("without the market's price is about failures alone, and says so", () => {
    const unpriced = calm.map((step) => ({ ...step, gasPrice: 90n * GWEI, marketPrice: null }));
    expect(measureFeature("adaptation", unpriced)).toMatchObject({
      state: "measured",
      value: 100,
      reason: expect.stringContaining("overpay unknown: no block tells what the market paid"),
    });
  });

  test("is worth nothing where nothing succeeds", () => {
    expect(pointsOf("adaptation", repeat(100, HOUR, failure))).toBe(0);
  });
});
