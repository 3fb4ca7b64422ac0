import { describe, expect, test } from "vitest";
import { START } from "./histories.ts";
import { measureFeature, pointsOf, repeat } from "./measured.ts";

const call = { at: START, gasLimit: 100_000n, gasUsed: 80_000n, fee: 1_000n };

describe("gas efficiency", () => {
  test("is whole without failures and with tight limits", () => {
    expect(pointsOf("gas_efficiency", repeat(24, 60, call))).toBe(100);
  });

  test("counts the fees that failures burnt, over all fees and ten mean ones", () => {
    const failed = { ...call, at: START + 30, ok: false };
    // 2 of 10 calls failed: 2 / (2 + 8 + 10).
    const { value } = measureFeature("gas_efficiency", [...repeat(8, 1, call), ...repeat(2, 1, failed)]);
    expect(value).toBeCloseTo(0.1, 5);
  });

  test("counts a dear failure more than a cheap one", () => {
    const steps = (fee: bigint) => [...repeat(20, 1, call), { ...call, at: START + 30, ok: false, fee }];
    expect(pointsOf("gas_efficiency", steps(50_000n))).toBeLessThan(
      pointsOf("gas_efficiency", steps(100n)) - 20,
    );
  });

  test.each([
    [0.01, 10],
    [0.06, 25],
    [0.25, 70],
    [0.4, 100],
    [1, 100],
  ])("gives %d of the limit used %d points in its 23 percent", (share, points) => {
    const gasUsed = BigInt(1_000_000 * share);
    const score = pointsOf("gas_efficiency", repeat(10, 60, { ...call, gasLimit: 1_000_000n, gasUsed }));
    expect(score).toBeCloseTo(77 + 0.23 * points, 4);
  });

  test("burns nothing on a chain without fees", () => {
    const steps = [...repeat(9, 60, { ...call, fee: 0n }), { ...call, at: START + 900, ok: false, fee: 0n }];
    expect(measureFeature("gas_efficiency", steps)).toMatchObject({ value: 0, state: "measured" });
  });
});
