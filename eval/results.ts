import type { Policy } from "../service/model/score/policy-shape.ts";
import type { ScoreRecord } from "../service/model/score/record.ts";
import { policyFile } from "../service/scores/inputs-hash.ts";
import { ARCHETYPES } from "./archetypes.ts";
import { ATTACKS, NUISANCES } from "./attacks.ts";
import { type Bar, barsOf } from "./bars.ts";
import type { Judged, SeedOutcome } from "./evaluate-seed.ts";
import { HARMFUL } from "./harmful.ts";
import { HONEST } from "./judge-characters.ts";
import { areaUnderCurve, pairwiseOrder, quantile, worstBand } from "./measures.ts";
import type { Price } from "./price-of-grades.ts";
import type { ArchetypeResult, AttackResult, SeedResult } from "./result-rows.ts";
import { ACTIONS } from "./routing.ts";
import { type CharacterResult, characterResults, trustOf } from "./trust.ts";

/** At which dollars are stated: Wei per gas in billions, and dollars per native coin. Both are assumptions, not measurements. */
const STATED = { gas_price_gwei: 0.05, native_usd: 3_000 } as const;

export type PriceResult = Price & { readonly usd: number; readonly seeds: number };

/** The results file of `npm run eval`. */
export type Results = {
  readonly model_version: string;
  /** Keccak-256 of the policy's canonical JSON. */
  readonly policy_hash: string;
  readonly seeds: readonly string[];
  readonly stated: typeof STATED;
  /** Lowest over the seeds. */
  readonly pairwise_order: number;
  /** Greatest share over the seeds. */
  readonly worst_band: number;
  /** Lowest over the seeds and the two outcomes, and the baselines of that seed and outcome. */
  readonly auc: number;
  readonly auc_baselines: { readonly success_rate: number; readonly account_age: number };
  /** Each the worst of the seeds, as `Trust` has them. */
  readonly honest_over_forged_auc: number;
  readonly honest_rejected: number;
  readonly honest_unscored: number;
  readonly honest_rejected_without_facts: number;
  readonly honest_unscored_without_facts: number;
  readonly shortest_instant_days: number;
  readonly harmful_unlimited: number;
  readonly safe_over_burnt: number;
  /** Leads over the baselines that are hardest to beat, as `SeedResult` has them; the least. */
  readonly lead_failing: number;
  readonly lead_losing: number;
  /** Greatest size of a rank correlation between two D2 features, or one with plain success. */
  readonly max_d2_correlation: number;
  readonly characters: readonly CharacterResult[];
  readonly archetypes: readonly ArchetypeResult[];
  readonly attacks: readonly AttackResult[];
  readonly prices: readonly PriceResult[];
  readonly by_seed: readonly SeedResult[];
  readonly bars: readonly Bar[];
  readonly holds: boolean;
};

/** Sums up the outcomes of one or more seeds; throws without any. */
export function summarise(outcomes: readonly SeedOutcome[], policy: Policy): Results {
  const bySeed = outcomes.map(seedResult);
  const [lowest] = bySeed
    .flatMap(({ out_of_sample: { failure, loss } }) => [failure, loss])
    .sort((a, b) => a.score - b.score);
  if (lowest === undefined) throw new Error("no seed, no results");
  const archetypes = ARCHETYPES.map((archetype) =>
    archetypeResult(
      archetype,
      outcomes.flatMap(({ judged }) => judged),
    ),
  );
  const attacks = [...ATTACKS.map((attack) => attackResult(attack, outcomes)), ...nuisanceResults(outcomes)];
  const bars = barsOf({ bySeed, archetypes, attacks });
  const least = (of: (seed: SeedResult) => number) => Math.min(...bySeed.map(of));
  const most = (of: (seed: SeedResult) => number) => Math.max(...bySeed.map(of));
  return {
    model_version: policy.version,
    policy_hash: policyFile(policy).hash,
    seeds: outcomes.map(({ seed }) => seed),
    stated: STATED,
    pairwise_order: Math.min(...bySeed.map(({ pairwise_order }) => pairwise_order)),
    worst_band: Math.max(...bySeed.map(({ worst_band }) => worst_band.share)),
    auc: lowest.score,
    auc_baselines: { success_rate: lowest.success_rate, account_age: lowest.account_age },
    honest_over_forged_auc: least(({ trust }) => trust.honest_over_forged_auc),
    honest_rejected: most(({ trust }) => trust.honest_rejected),
    honest_unscored: most(({ trust }) => trust.honest_unscored),
    honest_rejected_without_facts: most(({ trust }) => trust.honest_rejected_without_facts),
    honest_unscored_without_facts: most(({ trust }) => trust.honest_unscored_without_facts),
    shortest_instant_days: least(({ trust }) => trust.shortest_instant_days),
    harmful_unlimited: most(({ trust }) => trust.harmful_unlimited),
    safe_over_burnt: most(({ trust }) => trust.safe_over_burnt),
    lead_failing: least(({ lead_failing }) => lead_failing),
    lead_losing: least(({ lead_losing }) => lead_losing),
    max_d2_correlation: most(({ out_of_sample }) => Math.abs(out_of_sample.d2_correlation.rho)),
    characters: characterResults(
      outcomes.map(({ characters }) => characters),
      [...HONEST, ...HARMFUL.map((harm) => ({ ...harm, worth: null }))],
    ),
    archetypes,
    attacks,
    prices: priceResults(outcomes),
    by_seed: bySeed,
    bars,
    holds: bars.every(({ holds }) => holds),
  };
}

/** Dollars of so much gas at the stated price. */
function statedUsd(gas: number): number {
  return gas * STATED.gas_price_gwei * 1e-9 * STATED.native_usd;
}

function seedResult(outcome: SeedOutcome): SeedResult {
  const { seed, readShare, judged, outOfSample } = outcome;
  const { failure, loss } = outOfSample;
  const ranked = judged.flatMap(({ archetype, record }) => {
    const tier = tierOf(archetype);
    const score = scoreOf(record);
    return score === null || tier === null ? [] : [{ tier, score }];
  });
  const order = pairwiseOrder(ranked);
  const band = worstBand(ranked.map(({ score }) => score));
  if (order === null || band === null) throw new Error(`seed ${seed} has no two tiers to compare`);
  const scoresOf = (tier: number) => ranked.filter((one) => one.tier === tier).map(({ score }) => score);
  return {
    seed,
    read_share: readShare,
    pairwise_order: order,
    neighbours: [1, 2, 3, 4].map((tier) => areaUnderCurve(scoresOf(tier), scoresOf(tier + 1))),
    worst_band: band,
    lead_failing: failure.score - failure.ewma_success,
    lead_losing: loss.score - loss.gas_efficiency,
    trust: trustOf(outcome),
    out_of_sample: outOfSample,
  };
}

function tierOf(name: Judged["archetype"]): number | null {
  return ARCHETYPES.find((archetype) => archetype.name === name)?.tier ?? null;
}

function archetypeResult(
  { name, tier }: (typeof ARCHETYPES)[number],
  judged: readonly Judged[],
): ArchetypeResult {
  const records = judged.filter(({ archetype }) => archetype === name).map(({ record }) => record);
  const scored = records.flatMap(({ outcome }) => (outcome.kind === "scored" ? [outcome] : []));
  const points = scored.map(({ ahsScore }) => ahsScore);
  return {
    name,
    tier,
    wallets: records.length,
    insufficient: records.length - scored.length,
    median: quantile(points, 0.5),
    p10: quantile(points, 0.1),
    p90: quantile(points, 0.9),
    confidence: quantile(
      records.map(({ confidenceMicros }) => confidenceMicros / 1e6),
      0.5,
    ),
    confidence_levels: countBy(records.map(({ confidenceLevel }) => confidenceLevel)),
    grades: countBy(scored.map(({ grade }) => grade)),
  };
}

function attackResult(
  { name, what, bar }: (typeof ATTACKS)[number],
  outcomes: readonly SeedOutcome[],
): AttackResult {
  const all = outcomes.flatMap(({ attacks }) => attacks.filter((attack) => attack.name === name));
  const [best] = all.toSorted((a, b) => (scoreOf(b.record) ?? -1) - (scoreOf(a.record) ?? -1));
  const [safest] = all.toSorted((a, b) => b.safeMicroUsd - a.safeMicroUsd);
  if (best === undefined || safest === undefined) throw new Error(`no seed has the attack ${name}`);
  const { record, calls, gas } = best;
  const ahs = scoreOf(record);
  return {
    name,
    what,
    ahs,
    grade: record.outcome.kind === "scored" ? record.outcome.grade : null,
    confidence: record.confidenceMicros / 1e6,
    confidence_level: record.confidenceLevel,
    calls,
    gas,
    usd: statedUsd(gas),
    route: ACTIONS[Math.max(...all.map(({ route }) => ACTIONS.indexOf(route)))] ?? null,
    unlimited: all.some(({ unlimited }) => unlimited),
    safe_usd: safest.safeMicroUsd / 1e6,
    burnt_usd: safest.burntMicroUsd / 1e6,
    bar,
    holds: bar === null ? null : ahs === null || ahs < 60,
  };
}

/** Nuisances as rows of the same table; they gain nothing, and cost the wallet nothing. */
function nuisanceResults(outcomes: readonly SeedOutcome[]): readonly AttackResult[] {
  return NUISANCES.map(({ name, what }) => ({
    name,
    what,
    ahs: null,
    grade: null,
    confidence: 0,
    confidence_level: "INSUFFICIENT",
    calls: 0,
    gas: 0,
    usd: 0,
    route: null,
    unlimited: false,
    safe_usd: 0,
    burnt_usd: 0,
    bar: "unchanged",
    holds: outcomes.every(({ nuisances }) => nuisances.every((one) => one.name !== name || one.unchanged)),
  }));
}

/** The dearest of the seeds for each grade and confidence, and how many seeds reached it. */
function priceResults(outcomes: readonly SeedOutcome[]): readonly PriceResult[] {
  const all = outcomes.flatMap(({ prices }) => prices);
  const kinds = new Map(all.map((price) => [`${price.grade} ${price.confidence}`, price]));
  return [...kinds.values()]
    .map(({ grade, confidence }) => {
      const same = all.filter((price) => price.grade === grade && price.confidence === confidence);
      const dearest = same.reduce((worst, price) => (price.gas > worst.gas ? price : worst));
      return { ...dearest, usd: statedUsd(dearest.gas), seeds: same.length };
    })
    .sort((a, b) => (a.grade === b.grade ? a.gas - b.gas : a.grade < b.grade ? -1 : 1));
}

function scoreOf({ outcome }: ScoreRecord): number | null {
  return outcome.kind === "scored" ? outcome.ahsScore : null;
}

function countBy<K extends string>(values: readonly K[]): Partial<Record<K, number>> {
  const counts: Partial<Record<K, number>> = {};
  for (const value of values.toSorted()) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
