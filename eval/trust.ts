import type { Grade } from "../service/model/score/record.ts";
import { ATTACKS } from "./attacks.ts";
import type { SeedOutcome } from "./evaluate-seed.ts";
import { LONGEST_DAYS } from "./instant-plans.ts";
import { HONEST, type JudgedCharacter, type JudgedCharacters } from "./judge-characters.ts";
import { areaUnderCurve, quantile } from "./measures.ts";

/** Measures of how scores, routes and safe amounts of one seed separate wallets; shares are means over kinds of wallets, all alike. */
export type Trust = {
  /** Safe amounts of honest kinds worth an A or B over those of forging attacks: mean over all pairs of a kind and an attack. */
  readonly honest_over_forged_auc: number;
  /** The same of scores, those without one below all others: health alone does not separate the two. */
  readonly honest_over_forged_by_score: number;
  readonly honest_rejected: number;
  /** Neither a score nor a seller profile. */
  readonly honest_unscored: number;
  /** The same two for a service without a source of account facts. */
  readonly honest_rejected_without_facts: number;
  readonly honest_unscored_without_facts: number;
  /** At A or B with HIGH confidence, and settled at once for any amount. */
  readonly harmful_unlimited: number;
  /** Greatest ratio of all safe amounts of an attack's accounts to all that they spent. */
  readonly safe_over_burnt: number;
  /** Days from nothing to an instant settlement; the longest plan tried where none led there. */
  readonly shortest_instant_days: number;
};

/** One kind of wallet over all seeds. */
export type CharacterResult = {
  readonly name: string;
  readonly what: string;
  /** Grade that an expert gives it; null for a harmful kind. */
  readonly worth: "A" | "B" | "C" | null;
  readonly wallets: number;
  readonly unscored: number;
  readonly grades: Readonly<Partial<Record<Grade, number>>>;
  /** Shares of the wallets. */
  readonly rejected: number;
  readonly instant: number;
  /** Of the scored; null where none is. */
  readonly median: number | null;
  /** Median in dollars. */
  readonly safe_usd: number | null;
  readonly without_facts: {
    readonly unscored: number;
    readonly grades: Readonly<Partial<Record<Grade, number>>>;
    readonly rejected: number;
  };
};

type Wallets = JudgedCharacter["judged"];

/** The measures of trust of one seed. */
export function trustOf({ characters, attacks, instantPlan }: SeedOutcome): Trust {
  const { honest, harmful } = characters;
  const over = (share: (wallets: Wallets) => number, view: "judged" | "judgedWithoutFacts") =>
    mean(honest.map((kind) => share(kind[view])));
  return {
    honest_over_forged_auc: honestOverForged(characters.honest, attacks, {
      ofHonest: ({ safeUsd }) => safeUsd,
      ofForged: ({ walletsSafeUsd }) => walletsSafeUsd,
    }),
    honest_over_forged_by_score: honestOverForged(characters.honest, attacks, {
      ofHonest: ({ record: { outcome } }) => (outcome.kind === "scored" ? outcome.ahsScore : -1),
      ofForged: ({ walletsScore }) => walletsScore,
    }),
    honest_rejected: over(rejectedShare, "judged"),
    honest_unscored: over(unscoredShare, "judged"),
    honest_rejected_without_facts: over(rejectedShare, "judgedWithoutFacts"),
    honest_unscored_without_facts: over(unscoredShare, "judgedWithoutFacts"),
    harmful_unlimited: mean(harmful.map(({ judged }) => shareOf(judged, isTrustedWithAll))),
    safe_over_burnt: Math.max(
      ...attacks.map(({ safeMicroUsd, burntMicroUsd }) =>
        burntMicroUsd === 0 ? 0 : safeMicroUsd / burntMicroUsd,
      ),
    ),
    shortest_instant_days: instantPlan === null ? LONGEST_DAYS : instantPlan.days,
  };
}

function honestOverForged(
  honest: readonly JudgedCharacter[],
  attacks: SeedOutcome["attacks"],
  {
    ofHonest,
    ofForged,
  }: {
    readonly ofHonest: (wallet: Wallets[number]) => number;
    readonly ofForged: (attack: SeedOutcome["attacks"][number]) => readonly number[];
  },
): number {
  const worthy = new Set(HONEST.filter(({ worth }) => worth !== "C").map(({ name }) => name));
  const forging = new Set(ATTACKS.filter(({ forges }) => forges === true).map(({ name }) => name));
  const forged = attacks.filter(({ name }) => forging.has(name)).map(ofForged);
  const areas = honest
    .filter(({ name }) => worthy.has(name))
    .flatMap(({ judged }) => forged.map((below) => areaUnderCurve(judged.map(ofHonest), below)));
  return mean(areas.filter((area) => area !== null));
}

/** The kinds of all seeds, the honest before the harmful. */
export function characterResults(
  seeds: readonly JudgedCharacters[],
  described: readonly Pick<CharacterResult, "name" | "what" | "worth">[],
): readonly CharacterResult[] {
  return described.map(({ name, what, worth }) => {
    const same = seeds
      .flatMap(({ honest, harmful }) => [...honest, ...harmful])
      .filter((kind) => kind.name === name);
    const withFacts = same.flatMap(({ judged }) => judged);
    const withoutFacts = same.flatMap(({ judgedWithoutFacts }) => judgedWithoutFacts);
    return {
      name,
      what,
      worth,
      wallets: withFacts.length,
      unscored: unscoredShare(withFacts),
      grades: gradesOf(withFacts),
      rejected: rejectedShare(withFacts),
      instant: shareOf(withFacts, ({ action }) => action === "instant_settle"),
      median: quantile(
        withFacts.flatMap(({ record: { outcome } }) => (outcome.kind === "scored" ? [outcome.ahsScore] : [])),
        0.5,
      ),
      safe_usd: quantile(
        withFacts.map(({ safeUsd }) => safeUsd),
        0.5,
      ),
      without_facts: {
        unscored: unscoredShare(withoutFacts),
        grades: gradesOf(withoutFacts),
        rejected: rejectedShare(withoutFacts),
      },
    };
  });
}

function isTrustedWithAll({ record: { outcome, confidenceLevel }, unlimited }: Wallets[number]): boolean {
  if (outcome.kind !== "scored" || confidenceLevel !== "HIGH") return false;
  return unlimited && (outcome.grade === "A" || outcome.grade === "B");
}

function rejectedShare(wallets: Wallets): number {
  return shareOf(wallets, ({ action }) => action === "reject");
}

function unscoredShare(wallets: Wallets): number {
  return shareOf(wallets, ({ record, hasSellerProfile }) => {
    return record.outcome.kind === "insufficient" && !hasSellerProfile;
  });
}

function gradesOf(wallets: Wallets): Partial<Record<Grade, number>> {
  const counts: Partial<Record<Grade, number>> = {};
  for (const grade of ["A", "B", "C", "D", "E", "F"] as const) {
    const count = wallets.filter(
      ({ record: { outcome } }) => outcome.kind === "scored" && outcome.grade === grade,
    ).length;
    if (count > 0) counts[grade] = count;
  }
  return counts;
}

function shareOf(wallets: Wallets, holds: (wallet: Wallets[number]) => boolean): number {
  return wallets.length === 0 ? 0 : wallets.filter(holds).length / wallets.length;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
