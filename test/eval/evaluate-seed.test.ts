import { describe, expect, test } from "vitest";
import { evaluateSeed } from "../../eval/evaluate-seed.ts";
import { testOutOfSample } from "../../eval/out-of-sample.ts";
import { summarise } from "../../eval/results.ts";
import { AHS_2026_2 } from "../../service/model/score/policy.ts";

const TINY = {
  perTier: 6,
  drifters: 40,
  crowd: { users: 300, keepers: 20, feeders: 20 },
  lives: 0,
  mostPerDay: 2,
};
const SMALL = {
  perTier: 12,
  drifters: 120,
  crowd: { users: 800, keepers: 40, feeders: 30 },
  lives: 1,
  mostPerDay: 40,
};

describe("an evaluation", () => {
  test("of one seed is the same every time, and that of another seed is not", () => {
    const run = () => evaluateSeed("one", { policy: AHS_2026_2, size: TINY });
    const first = run();
    expect(JSON.stringify(run())).toBe(JSON.stringify(first));
    const { drifters: agents, crowd } = TINY;
    const other = testOutOfSample({ seed: "two", agents, crowd, policy: AHS_2026_2 });
    expect(other).not.toEqual(first.outOfSample);
  });

  test("of a small population finds tiers in order, the scale in use and the future foreseen", () => {
    const results = summarise([evaluateSeed("small", { policy: AHS_2026_2, size: SMALL })], AHS_2026_2);
    expect(results.pairwise_order).toBeGreaterThan(0.9);
    expect(results.worst_band).toBeLessThan(0.5);
    expect(results.auc).toBeGreaterThan(0.8);
    expect(results.auc).toBeGreaterThan(results.auc_baselines.account_age + 0.1);
    expect(results.safe_over_burnt).toBeLessThanOrEqual(1);
    expect(results.honest_over_forged_auc).toBeGreaterThan(0.8);
    for (const { name, wallets } of results.characters) expect([name, wallets > 0]).toEqual([name, true]);
    const attacks = results.attacks.filter(({ holds }) => holds === false).map(({ name }) => name);
    expect(attacks).toEqual([]);
    for (const { name, tier, median } of results.archetypes) {
      if (tier === 1) expect([name, median !== null && median >= 75]).toEqual([name, true]);
      if (tier === 5) expect([name, median !== null && median < 40]).toEqual([name, true]);
    }
  });
});
