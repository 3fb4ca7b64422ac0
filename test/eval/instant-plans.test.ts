import { describe, expect, test } from "vitest";
import { shortestPlan } from "../../eval/instant-plans.ts";

const WALLET = "0x0000000000000000000000000000000000000001";

describe("the shortest plan", () => {
  const plan = (days: number, calls: number) =>
    ({ wallet: WALLET, kind: "calls", days, calls, gas: calls * 45_000 }) as const;

  test("is the one of fewest days that settled at once, of equals the cheapest", () => {
    const plans = [
      { plan: plan(2, 900), isInstant: false },
      { plan: plan(4, 300), isInstant: true },
      { plan: plan(4, 80), isInstant: true },
      { plan: plan(14, 10), isInstant: true },
    ];
    expect(shortestPlan(plans)).toEqual({ kind: "calls", days: 4, calls: 80, gas: 3_600_000 });
  });

  test("is null where no plan settled at once", () => {
    expect(shortestPlan([{ plan: plan(4, 80), isInstant: false }])).toBeNull();
  });
});
