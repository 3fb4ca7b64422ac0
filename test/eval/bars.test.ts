import { describe, expect, test } from "vitest";
import { barsOf } from "../../eval/bars.ts";
import type { ArchetypeResult, AttackResult, SeedResult } from "../../eval/result-rows.ts";

const GOOD_AREAS = {
  score: 0.95,
  success_rate: 0.9,
  account_age: 0.6,
  ewma_success: 0.94,
  mean_of_features: 0.93,
  gas_efficiency: 0.92,
};
const GOOD_TRUST = {
  honest_over_forged_auc: 0.92,
  honest_over_forged_by_score: 0.3,
  honest_rejected: 0.03,
  honest_unscored: 0.08,
  honest_rejected_without_facts: 0.04,
  honest_unscored_without_facts: 0.09,
  harmful_unlimited: 0,
  safe_over_burnt: 0.9,
  shortest_instant_days: 15,
};

function seed(parts: Partial<SeedResult> = {}, areas = GOOD_AREAS): SeedResult {
  return {
    seed: "seed",
    read_share: 0.2,
    pairwise_order: 0.97,
    neighbours: [1, 0.9, 0.9, 0.9],
    worst_band: { from: 0, share: 0.35 },
    lead_failing: 0.01,
    lead_losing: 0.03,
    trust: GOOD_TRUST,
    out_of_sample: {
      wallets: 100,
      insufficient: 0,
      share_failing: 0.3,
      share_losing: 0.3,
      failure: areas,
      loss: areas,
      failure_unpadded: areas,
      features: [],
      d2_correlation: { between: ["consistency", "plain_success"], rho: 0.8 },
      drift: { sound: 0.5, step: 0.1, breaks: 0.01, repairs: 0.2, padding: 0.05, drain: 0.05 },
    },
    ...parts,
  };
}

function keeper(parts: Partial<ArchetypeResult> = {}): ArchetypeResult {
  return {
    name: "keeper",
    tier: 1,
    wallets: 10,
    insufficient: 0,
    median: 93,
    p10: 90,
    p90: 96,
    confidence: 0.85,
    confidence_levels: { HIGH: 10 },
    grades: { A: 9, B: 1 },
    ...parts,
  };
}

function attack(parts: Partial<AttackResult> = {}): AttackResult {
  return {
    name: "ring",
    what: "a ring",
    ahs: 59,
    grade: "D",
    confidence: 0.6,
    confidence_level: "MEDIUM",
    calls: 300,
    gas: 1,
    usd: 1,
    route: "reject",
    unlimited: false,
    safe_usd: 0,
    burnt_usd: 1,
    bar: "at_most_d",
    holds: true,
    ...parts,
  };
}

const GOOD = { bySeed: [seed()], archetypes: [keeper()], attacks: [attack()] };

describe("bars", () => {
  test("hold where every figure is good", () => {
    expect(barsOf(GOOD).filter(({ holds }) => !holds)).toEqual([]);
  });

  test.each([
    ["a seed out of order", { bySeed: [seed(), seed({ pairwise_order: 0.969 })] }, "pairwise order"],
    ["a crowded band", { bySeed: [seed({ worst_band: { from: 3, share: 0.41 } })] }, "worst 20-point band"],
    [
      "a score that foresees too little",
      { bySeed: [seed({}, { ...GOOD_AREAS, score: 0.84, success_rate: 0.8 })] },
      "area under the curve",
    ],
    [
      "a baseline that foresees more",
      { bySeed: [seed({}, { ...GOOD_AREAS, success_rate: 0.96 })] },
      "lead over success_rate",
    ],
    [
      "recent success that foresees more",
      { bySeed: [seed(), seed({ lead_failing: -0.001 })] },
      "lead over success of 14 days",
    ],
    ["gas alone that foresees more", { bySeed: [seed({ lead_losing: 0 })] }, "lead over gas_efficiency"],
    [
      "an attack that may settle more than it spent",
      { bySeed: [seed({ trust: { ...GOOD_TRUST, safe_over_burnt: 1.01 } })] },
      "safe amount over what was spent",
    ],
    [
      "forged wallets with more behind them than honest ones",
      { bySeed: [seed(), seed({ trust: { ...GOOD_TRUST, honest_over_forged_auc: 0.89 } })] },
      "honest over forged",
    ],
    [
      "honest wallets rejected",
      { bySeed: [seed({ trust: { ...GOOD_TRUST, honest_rejected: 0.06 } })] },
      "honest kinds rejected",
    ],
    [
      "honest wallets without a score",
      { bySeed: [seed({ trust: { ...GOOD_TRUST, honest_unscored_without_facts: 0.11 } })] },
      "honest kinds with neither",
    ],
    [
      "harmful wallets trusted with any amount",
      { bySeed: [seed({ trust: { ...GOOD_TRUST, harmful_unlimited: 0.01 } })] },
      "harmful kinds",
    ],
    [
      "a quick way to an instant settlement",
      { bySeed: [seed(), seed({ trust: { ...GOOD_TRUST, shortest_instant_days: 13.9 } })] },
      "days from nothing",
    ],
    ["sound agents that score a C", { archetypes: [keeper({ grades: { A: 8, C: 2 } })] }, "keeper"],
    [
      "sound agents of MEDIUM confidence",
      { archetypes: [keeper({ confidence_levels: { HIGH: 8, MEDIUM: 2 } })] },
      "keeper",
    ],
    ["an attack that pays", { attacks: [attack({ ahs: 60, grade: "C", holds: false })] }, "attack ring"],
  ] as const)("miss for %s", (_, parts, name) => {
    const missed = barsOf({ ...GOOD, ...parts }).filter(({ holds }) => !holds);
    expect(missed.length).toBeGreaterThan(0);
    for (const bar of missed) expect(bar.name).toContain(name);
  });

  test("ask nothing of an attack without a bar", () => {
    const free = attack({ ahs: 98, grade: "A", bar: null, holds: null });
    expect(barsOf({ ...GOOD, attacks: [free] }).filter(({ holds }) => !holds)).toEqual([]);
  });
});
