import type { ArchetypeResult, AttackResult, SeedResult } from "./result-rows.ts";

/** A figure that the model has to reach, and whether it does. */
export type Bar = {
  readonly name: string;
  /** Null for an attack that ends without a score. */
  readonly value: number | null;
  readonly bar: string;
  readonly holds: boolean;
};

/** Wallets of each of these that must be B or better with HIGH confidence. */
const SOUND = ["keeper", "trader", "payment_agent", "escrow_worker"];
/** Of a hundred agents drawn from wide ranges a few are unlucky. */
const SOUND_SHARE = 0.9;
const LEAST_ORDER = 0.97;
const MOST_IN_BAND = 0.4;
const LEAST_AREA = 0.85;

/** Every bar that an evaluation decides: held by the worst seed, but for mean leads, which the seeds hold together. */
export function barsOf({
  bySeed,
  archetypes,
  attacks,
}: {
  readonly bySeed: readonly SeedResult[];
  readonly archetypes: readonly ArchetypeResult[];
  readonly attacks: readonly AttackResult[];
}): readonly Bar[] {
  const order = Math.min(...bySeed.map(({ pairwise_order }) => pairwise_order));
  const band = Math.max(...bySeed.map(({ worst_band }) => worst_band.share));
  return [
    {
      name: "pairwise order between tiers",
      value: order,
      bar: `at least ${LEAST_ORDER}`,
      holds: order >= LEAST_ORDER,
    },
    {
      name: "share of scores in the worst 20-point band",
      value: band,
      bar: `at most ${MOST_IN_BAND}`,
      holds: band <= MOST_IN_BAND,
    },
    ...areaBars(bySeed),
    ...trustBars(bySeed),
    ...archetypes.filter(({ name }) => SOUND.includes(name)).map(soundBar),
    ...archetypes.filter(({ name }) => name === "always_failing").map(failingBar),
    ...attacks.filter(({ bar }) => bar !== null).map(attackBar),
  ];
}

function areaBars(bySeed: readonly SeedResult[]): readonly Bar[] {
  return (["failure", "loss"] as const).flatMap((kind) => {
    const areas = bySeed.map(({ out_of_sample }) => out_of_sample[kind]);
    const least = Math.min(...areas.map(({ score }) => score));
    // A lead is a difference of two near numbers: over one seed alone, chance is as large as it.
    const lead = (baseline: "success_rate" | "account_age"): Bar => {
      const mean = areas.reduce((sum, area) => sum + area.score - area[baseline], 0) / areas.length;
      const name = `out of sample, ${kind}: mean lead over ${baseline}`;
      return { name, value: mean, bar: "above 0", holds: mean > 0 };
    };
    return [
      {
        name: `out of sample, ${kind}: area under the curve`,
        value: least,
        bar: `at least ${LEAST_AREA}`,
        holds: least >= LEAST_AREA,
      },
      lead("success_rate"),
      lead("account_age"),
    ];
  });
}

/** Bars for the faults that an independent review of AHS-2026.2 found; held by the worst seed. */
function trustBars(bySeed: readonly SeedResult[]): readonly Bar[] {
  const atLeast = (name: string, bound: number, of: (seed: SeedResult) => number): Bar => {
    const value = Math.min(...bySeed.map(of));
    return { name, value, bar: `at least ${bound}`, holds: value >= bound };
  };
  const atMost = (name: string, bound: number, of: (seed: SeedResult) => number): Bar => {
    const value = Math.max(...bySeed.map(of));
    return { name, value, bar: `at most ${bound}`, holds: value <= bound };
  };
  const above = (name: string, of: (seed: SeedResult) => number): Bar => {
    const value = Math.min(...bySeed.map(of));
    return { name, value, bar: "above 0", holds: value > 0 };
  };
  return [
    above("out of sample, failure: lead over success of 14 days' half-life", (seed) => seed.lead_failing),
    above("out of sample, loss: lead over gas_efficiency alone", (seed) => seed.lead_losing),
    atMost("rank correlation of D2 features with each other and plain success", 0.85, (seed) =>
      Math.abs(seed.out_of_sample.d2_correlation.rho),
    ),
    atLeast("safe amount: area of honest over forged", 0.9, ({ trust }) => trust.honest_over_forged_auc),
    atMost("safe amount over what was spent, of any attack", 1, ({ trust }) => trust.safe_over_burnt),
    atMost("honest kinds rejected", 0.05, ({ trust }) => trust.honest_rejected),
    atMost("honest kinds rejected, without account facts", 0.05, ({ trust }) => {
      return trust.honest_rejected_without_facts;
    }),
    atMost("honest kinds with neither score nor profile", 0.1, ({ trust }) => trust.honest_unscored),
    atMost("honest kinds with neither, without account facts", 0.1, ({ trust }) => {
      return trust.honest_unscored_without_facts;
    }),
    atMost("harmful kinds at A or B, HIGH, for any amount", 0, ({ trust }) => trust.harmful_unlimited),
    atLeast("days from nothing to an instant settlement", 14, ({ trust }) => trust.shortest_instant_days),
  ];
}

function soundBar({ name, wallets, grades, confidence_levels }: ArchetypeResult): Bar {
  const good = (grades.A ?? 0) + (grades.B ?? 0);
  const share = Math.min(good, confidence_levels.HIGH ?? 0) / wallets;
  return {
    name: `${name}: B or better, and HIGH`,
    value: share,
    bar: `at least ${SOUND_SHARE}`,
    holds: share >= SOUND_SHARE,
  };
}

function failingBar({ name, wallets, insufficient, grades }: ArchetypeResult): Bar {
  const share = (insufficient + (grades.E ?? 0) + (grades.F ?? 0)) / wallets;
  return { name: `${name}: E or F`, value: share, bar: "1", holds: share === 1 };
}

function attackBar({ name, ahs, bar, holds }: AttackResult): Bar {
  return {
    name: `attack ${name}`,
    value: ahs,
    bar: bar === "unchanged" ? "record unchanged" : "below 60 or insufficient",
    holds: holds === true,
  };
}
