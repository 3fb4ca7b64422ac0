import { describe, expect, test } from "vitest";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { adviseLimit, findSavings, nearestRank } from "../../../../service/reports/diagnosis/optimize.ts";
import { account, callsOf, DAY, GWEI, START, type Step } from "../../model/features/histories.ts";
import { factsOfSteps } from "./reports.ts";

function savingsOf(steps: readonly Step[]) {
  return findSavings(factsOfSteps(steps).paid, AHS_2026_2);
}

describe("savings", () => {
  test("are the fees of reverts, those of exhausted limits, and what successes paid above the market", () => {
    const to = account(7);
    const savings = savingsOf([
      { at: START, to, ok: false, gasUsed: 40_000n, gasPrice: 9n * GWEI },
      { at: START + 30 * DAY, to, ok: false, gasUsed: 100_000n },
      { at: START + 60 * DAY - 3_600, to, gasPrice: 2n * GWEI },
    ]);
    const pair = { contract: to, selector: "0x12345678", calls: 1 };
    expect(savings).toEqual([
      {
        ...pair,
        kind: "simulate_first",
        window: { wei: 360_000n * GWEI, microUsd: 720_000 },
        monthly: { wei: 180_000n * GWEI, microUsd: 360_000 },
        suggestedLimit: null,
      },
      {
        ...pair,
        kind: "raise_gas_limit",
        window: { wei: 100_000n * GWEI, microUsd: 200_000 },
        monthly: { wei: 50_000n * GWEI, microUsd: 100_000 },
        suggestedLimit: 125_000n,
      },
      {
        ...pair,
        kind: "pay_market_price",
        window: { wei: 70_000n * GWEI, microUsd: 140_000 },
        monthly: { wei: 35_000n * GWEI, microUsd: 70_000 },
        suggestedLimit: null,
      },
    ]);
  });

  test("are none for calls that succeeded at the market's price, nor for generous limits", () => {
    expect(savingsOf([{ at: START, gasLimit: 5_000_000n }])).toEqual([]);
  });

  test("say nothing of a price where the block tells no market price", () => {
    expect(savingsOf([{ at: START, gasPrice: 100n * GWEI, marketPrice: null }])).toEqual([]);
  });
});

function advise(steps: readonly Omit<Step, "at">[]) {
  return adviseLimit(callsOf(steps.map((step, position) => ({ ...step, at: START + position }))), AHS_2026_2);
}

const used = (gasUsed: bigint, gasLimit = 100_000n) => ({ gasUsed, gasLimit });
const many = (times: number, step: Omit<Step, "at">) => Array.from({ length: times }, () => step);

describe("the nearest rank", () => {
  test.each([
    [95, [], null],
    [95, [7n], 7n],
    [50, [1n, 2n, 3n, 4n], 2n],
    [95, Array.from({ length: 19 }, (_, i) => BigInt(i)), 18n],
    [95, Array.from({ length: 20 }, (_, i) => BigInt(i)), 18n],
    [95, Array.from({ length: 100 }, (_, i) => BigInt(i)), 94n],
  ])("of %i percent", (percent, numbers, expected) => {
    expect(nearestRank(numbers, percent)).toBe(expected);
  });
});

describe("a gas limit", () => {
  test("that calls ran into is too low, and the suggested one is more than what ran out", () => {
    const advice = advise([...many(3, used(70_000n)), { ...used(100_000n), ok: false }]);
    expect(advice).toMatchObject({
      state: "too_low",
      samples: 3,
      smallSample: true,
      exhaustedLimit: 100_000n,
      suggested: 125_000n,
    });
  });

  test("that ran out long ago and has been raised since fits", () => {
    expect(advise([{ ...used(100_000n), ok: false }, ...many(3, used(110_000n, 140_000n))])).toMatchObject({
      state: "fits",
      suggested: 137_500n,
    });
  });

  test("far above what is used is generous", () => {
    expect(advise(many(30, used(50_000n, 1_000_000n)))).toMatchObject({
      state: "generous",
      smallSample: false,
      p95Used: 50_000n,
      suggested: 62_500n,
    });
  });

  test("that is exactly what a plain transfer uses fits", () => {
    expect(advise(many(5, { ...used(21_000n, 21_000n), selector: null })).state).toBe("fits");
  });

  test("is suggested by the most that a success used: a limit too low costs a call, one too high nothing", () => {
    const advice = advise([...many(99, used(50_000n, 200_000n)), used(190_000n, 200_000n)]);
    expect(advice).toMatchObject({ p95Used: 50_000n, maxUsed: 190_000n, suggested: 237_500n, state: "fits" });
  });

  test.each([
    ["calls that only reverted", [{ ...used(40_000n), ok: false }]],
    ["executions without a limit of their own", [used(40_000n, 0n)]],
    ["no calls", []],
  ])("is not suggested from %s", (_case, steps) => {
    expect(advise(steps)).toMatchObject({ state: "unknown", suggested: null, p95Used: null, samples: 0 });
  });

  test("is suggested as a first try where every call ran out", () => {
    expect(advise([{ ...used(100_000n), ok: false }])).toMatchObject({
      state: "too_low",
      suggested: 125_000n,
    });
  });
});
