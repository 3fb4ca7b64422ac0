import { describe, expect, test } from "vitest";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { adviseGas } from "../../../../service/reports/diagnosis/health-advice.ts";
import { adviseLimit, findSavings, nearestRank } from "../../../../service/reports/diagnosis/optimize.ts";
import { account, callsOf, DAY, GWEI, START, type Step } from "../../model/features/histories.ts";
import { factsOfSteps } from "./reports.ts";

function savingsOf(steps: readonly Step[]) {
  return findSavings(factsOfSteps(steps).paid, AHS_2026_2);
}

describe("savings", () => {
  test("are the fees of reverts, those of exhausted limits, and what successes paid above the market", () => {
    const to = account(7);
    const twice = (step: Step) => [step, { ...step, at: step.at + 60 }];
    const savings = savingsOf([
      ...twice({ at: START, to, ok: false, gasUsed: 40_000n, gasPrice: 9n * GWEI }),
      { at: START + 30 * DAY, to, ok: false, gasUsed: 100_000n },
      ...twice({ at: START + 60 * DAY - 3_660, to, gasPrice: 2n * GWEI }),
    ]);
    const ofAll = { contract: to, selector: "0x12345678", attempts: 5, days: 60 };
    const money = (gas: bigint, microUsd: number) => ({ wei: gas * GWEI, microUsd });
    expect(savings.map(({ limit: { suggested }, ...saving }) => ({ ...saving, suggested }))).toEqual([
      {
        ...{ ...ofAll, kind: "simulate_first", calls: 2, suggested: 125_000n },
        ...{ window: money(720_000n, 1_440_000), monthly: money(360_000n, 720_000) },
      },
      {
        ...{ ...ofAll, kind: "pay_market_price", calls: 2, suggested: 125_000n },
        ...{ window: money(140_000n, 280_000), monthly: money(70_000n, 140_000) },
      },
      {
        ...{ ...ofAll, kind: "set_gas_limit", calls: 1, suggested: 125_000n },
        ...{ window: money(100_000n, 200_000), monthly: money(50_000n, 100_000) },
      },
    ]);
  });

  test("are not found for a method with a single call, nor for a single revert", () => {
    expect(savingsOf([{ at: START, ok: false }])).toEqual([]);
    expect(savingsOf([{ at: START, ok: false }, { at: START + 60 }])).toEqual([]);
  });

  test("are not found for calls that succeeded at the market's price, nor for generous limits", () => {
    expect(savingsOf([{ at: START, gasLimit: 5_000_000n }])).toEqual([]);
  });

  test("name no price where the block has no market price", () => {
    expect(savingsOf([{ at: START, gasPrice: 100n * GWEI, marketPrice: null }])).toEqual([]);
  });
});

describe("advice on gas", () => {
  const many = Array.from({ length: 30 }, (_, place): Step => ({ at: START + place, gasLimit: 5_000_000n }));

  test("of generous limits saves nothing", () => {
    expect(adviseGas(factsOfSteps(many))).toMatchObject({
      advice: [
        {
          kind: "set_gas_limit",
          severity: "info",
          action: expect.stringContaining("Set a fixed gas limit of 87,500 for calls"),
          reason: expect.stringContaining("saves no fee"),
          saves: { wei: 0n, microUsd: 0 },
        },
      ],
      smaller: { count: 0 },
    });
  });

  test("is one for a method whose calls ran out of gas and reserve too much", () => {
    const starved: Step = { at: START + 60, ok: false, gasLimit: 32_400n, gasUsed: 32_400n };
    const { advice } = adviseGas(factsOfSteps([...many, starved]));
    expect(advice.map(({ kind, suggestedLimit, reason }) => [kind, suggestedLimit, reason])).toEqual([
      [
        "set_gas_limit",
        87_500n,
        "1 of 31 calls ran out of gas at limits up to 32,400 and cost 0.06 USD. The median limit is 5,000,000, and no successful call used more than 70,000.",
      ],
    ]);
  });

  test("omits what saves less than 0.01 USD a month, and counts it", () => {
    const cheap = [0, 1].map((place): Step => ({ at: START + place, ok: false, gasPrice: GWEI / 100n }));
    expect(adviseGas(factsOfSteps(cheap))).toMatchObject({ advice: [], smaller: { count: 1 } });
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
