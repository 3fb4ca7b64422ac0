import { describe, expect, test } from "vitest";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import { findSavings } from "../../../../service/reports/diagnosis/optimize.ts";
import { account, DAY, GWEI, START, type Step } from "../../model/features/histories.ts";
import { factsOfSteps } from "./reports.ts";

function savingsOf(steps: readonly Step[]) {
  return findSavings(factsOfSteps(steps).paid, AHS_2026_1);
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
