import { describe, expect, it } from "vitest";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import { optimizeGas } from "../../../../service/reports/diagnosis/optimize.ts";
import { adviseSavings, avoidableWei } from "../../../../service/reports/diagnosis/protect-savings.ts";
import type { Saving } from "../../../../service/reports/diagnosis/savings.ts";
import { account, GWEI, START, type Step } from "../../model/features/histories.ts";
import { factsOfSteps } from "./reports.ts";

const DAYS = 30;

function saving(place: number, wei: bigint, microUsd: number | null): Saving {
  const money = { wei, microUsd };
  return {
    ...{ kind: "pay_market_price", contract: account(place), selector: null, calls: 1 },
    ...{ window: money, monthly: money, suggestedLimit: null },
  };
}

const worths = (savings: readonly Saving[]) =>
  adviseSavings(savings, DAYS).map(({ action, monthlyMicroUsd }) => [action, monthlyMicroUsd]);

describe("what to do about costly habits", () => {
  it("is by what they cost in dollars, and in wei where that is the same", () => {
    const given = [saving(1, 9n, 20_000), saving(2, 5n, 30_000), saving(3, 10n, 20_000)];
    const named = adviseSavings(given, DAYS).map(({ description }) => description);
    expect(named.map((text) => [2, 3, 1].find((place) => text.includes(account(place).slice(-2))))).toEqual([
      2, 3, 1,
    ]);
  });

  it("is one step for all that cost less than a cent a month, and that is the last", () => {
    const small = Array.from({ length: 31 }, (_, place) => saving(place, 2n, 9_999));
    const advice = adviseSavings([...small, saving(99, 3n, 10_000)], DAYS);
    expect(advice.map(({ action, monthlyMicroUsd }) => [action, monthlyMicroUsd])).toEqual([
      ["pay_market_price", 10_000],
      ["small_savings", 309_969],
    ]);
    expect(advice[1]).toMatchObject({
      description: expect.stringContaining("31 costly habits"),
      reason: expect.stringContaining("62 wei a month"),
    });
  });

  it("names a single small one, and those whose price nobody knows", () => {
    expect(worths([saving(1, 2n, 3), saving(2, 2n, null), saving(3, 3n, null)])).toEqual([
      ["pay_market_price", 3],
      ["pay_market_price", null],
      ["pay_market_price", null],
    ]);
  });

  it("is nothing where nothing is saved", () => {
    expect(worths([saving(1, 0n, 0)])).toEqual([]);
  });
});

describe("fees that could be avoided", () => {
  it.each<[string, Partial<Step>, boolean]>([
    ["are those of a failure", { ok: false }, true],
    ["are what a success paid above the market", { gasPrice: 2n * GWEI }, true],
    ["are none of a success at the market's price", {}, false],
    ["are none where no block tells the market's price", { marketPrice: null, gasPrice: 9n * GWEI }, false],
  ])("%s, as far as an optimization saves", (_name, step, some) => {
    const { paid } = factsOfSteps([{ at: START, to: account(7), ...step }]);
    expect(avoidableWei(paid) > 0n).toBe(some);
    expect(optimizeGas({ paid, policy: AHS_2026_1 }).totals.saved.wei).toBe(avoidableWei(paid));
  });
});
