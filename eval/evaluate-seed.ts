import type { Address } from "viem";
import { costBases } from "../service/model/backing/cost-basis.ts";
import type { Policy } from "../service/model/score/policy-shape.ts";
import type { RoutingAction, ScoreRecord } from "../service/model/score/record.ts";
import { ARCHETYPES, type ArchetypeName, settle } from "./archetypes.ts";
import { ATTACKS, NUISANCES } from "./attacks.ts";
import { actInBackground, type Crowd } from "./background.ts";
import { vettedServices } from "./bazaar.ts";
import { type InstantPlan, shortestPlan, tryInstantPlans } from "./instant-plans.ts";
import { type JudgedCharacters, judgeCharacters } from "./judge-characters.ts";
import { type OutOfSample, testOutOfSample } from "./out-of-sample.ts";
import { buyGrades, cheapestPlans, type Price } from "./price-of-grades.ts";
import { ACTIONS, type Routed, routeOf } from "./routing.ts";
import { observe } from "./score-wallets.ts";
import { spendingOf } from "./spending.ts";
import { createWorld, DAY, type World } from "./world.ts";

const DAYS = 90;

/** How large a run is. */
export type Size = {
  /** Wallets of each of the five tiers; a multiple of 6. */
  readonly perTier: number;
  readonly drifters: number;
  readonly crowd: Crowd;
  /** How many of each honest and harmful kind live. */
  readonly lives: number;
  /** Most calls a day of the plans that are tried for an instant settlement. */
  readonly mostPerDay: number;
};

export type Judged = { readonly archetype: ArchetypeName; readonly record: ScoreRecord };

/** The best that an attack reached in one world, and what all of it cost. */
type AttackOutcome = {
  readonly name: string;
  readonly record: ScoreRecord;
  readonly calls: number;
  readonly gas: number;
  /** The most lenient route of its wallets, and whether one of them is settled at once for any amount. */
  readonly route: RoutingAction;
  readonly unlimited: boolean;
  /** Score of each wallet that it wants scored, -1 for none, and its safe amount in dollars. */
  readonly walletsScore: readonly number[];
  readonly walletsSafeUsd: readonly number[];
  /** Of all accounts that it made: safe amounts and own costs, whole numbers. */
  readonly safeMicroUsd: number;
  readonly burntMicroUsd: number;
};

type NuisanceOutcome = { readonly name: string; readonly unchanged: boolean };

/** All results of a policy on one seed. */
export type SeedOutcome = {
  readonly seed: string;
  readonly readShare: number;
  readonly judged: readonly Judged[];
  readonly attacks: readonly AttackOutcome[];
  readonly nuisances: readonly NuisanceOutcome[];
  readonly prices: readonly Price[];
  /** The shortest plan from nothing to an instant settlement; null where none of those tried led there. */
  readonly instantPlan: Omit<InstantPlan, "wallet"> | null;
  readonly characters: JudgedCharacters;
  readonly outOfSample: OutOfSample;
};

/** Builds the worlds of a seed and scores everybody in them by a policy; the same seed gives the same outcome. */
export function evaluateSeed(
  seed: string,
  { policy, size }: { readonly policy: Policy; readonly size: Size },
): SeedOutcome {
  // Each of the two has a world of its own, which is free again before the next one is made.
  const characters = judgeCharacters(seed, { policy, lives: size.lives, crowd: size.crowd });
  const outOfSample = testOutOfSample({ seed, agents: size.drifters, crowd: size.crowd, policy });
  const world = createWorld(seed, DAYS);
  const at = world.start + DAYS * DAY;
  actInBackground(world, size.crowd);
  const settled = populate(world, size.perTier);
  const staged = ATTACKS.map(({ name, stage }) => {
    const before = world.ledger.accounts.size;
    const result = stage({ world, random: world.random.fork(`attack-${name}`) });
    // A map keeps the order of its entries: the newest are those that the attack made.
    return { name, ...result, group: [...world.ledger.accounts.keys()].slice(before) };
  });
  const bought = buyGrades({ world, random: world.random.fork("grades") });

  const observer = observe(world, { at, policy });
  const judged = settled.map(({ archetype, wallet }) => ({
    archetype,
    wallet,
    record: observer.score(wallet),
  }));
  const spending = spendingOf(world, observer, vettedServices(world, null));
  const bases = costBases(spending);
  const safeOf = (wallet: Address) => bases.get(wallet)?.safe ?? 0n;
  const ownOf = (wallet: Address) => spending.ownMicroUsd.get(wallet) ?? 0n;
  const attacks = staged.map(({ name, wallets, extraGas, group }) => {
    const records = wallets.map(observer.score);
    const safes = wallets.map(safeOf);
    return {
      name,
      record: best(records),
      ...costOf(world, wallets, extraGas),
      ...bestRoute(records.map((record, place) => routeOf(record, safes[place] ?? 0n))),
      walletsScore: records.map(pointsOf),
      walletsSafeUsd: safes.map((safe) => Number(safe) / 1e6),
      safeMicroUsd: sum(group.map(safeOf)),
      burntMicroUsd: sum(group.map(ownOf)),
    };
  });
  const prices = cheapestPlans(
    bought.map((purchase) => ({ purchase, record: observer.score(purchase.wallet) })),
  );
  const nuisances = harassAll(world, { before: judged, policy, at });
  // The observer has read the contacts already: no plan makes users for another, or for the wallets above.
  const plans = tryInstantPlans({ world, random: world.random.fork("instant") }, size.mostPerDay);
  return {
    seed,
    readShare: world.readShare,
    judged: judged.map(({ archetype, record }) => ({ archetype, record })),
    attacks,
    nuisances,
    prices,
    instantPlan: shortestPlan(
      plans.map((plan) => ({
        plan,
        isInstant: routeOf(observer.score(plan.wallet), 0n).action === "instant_settle",
      })),
    ),
    characters,
    outOfSample,
  };
}

/** As many wallets of each tier, shared evenly by its archetypes; a quarter as many of each archetype without a tier. */
function populate(world: World, perTier: number): readonly { archetype: ArchetypeName; wallet: Address }[] {
  return ARCHETYPES.flatMap(({ name, tier }) => {
    const sharing = ARCHETYPES.filter((other) => other.tier === tier).length;
    const count = tier === null ? Math.ceil(perTier / 4) : Math.ceil(perTier / sharing);
    return Array.from({ length: count }, (_, i) => ({
      archetype: name,
      wallet: settle(world, world.random.fork(`${name}-${i}`), name).wallet,
    }));
  });
}

/** Harasses one sound agent for each nuisance, and compares its record with the one before. */
function harassAll(
  world: World,
  {
    before,
    policy,
    at,
  }: {
    readonly before: readonly (Judged & { readonly wallet: Address })[];
    readonly policy: Policy;
    readonly at: number;
  },
): readonly NuisanceOutcome[] {
  const sound = before.filter(({ archetype }) => archetype === "payment_agent");
  for (const { name, harass } of NUISANCES) {
    const random = world.random.fork(name);
    harass({ world, random }, soundFor(name).wallet);
  }
  const after = observe(world, { at, policy });
  return NUISANCES.map(({ name }) => {
    const { wallet, record } = soundFor(name);
    return { name, unchanged: JSON.stringify(after.score(wallet)) === JSON.stringify(record) };
  });

  function soundFor(name: string): Judged & { readonly wallet: Address } {
    const victim = sound[NUISANCES.findIndex((nuisance) => nuisance.name === name) % sound.length];
    if (victim === undefined) throw new Error("a nuisance needs a sound agent");
    return victim;
  }
}

/** The route that is best for an attacker among those of its wallets. */
function bestRoute(routes: readonly Routed[]): {
  readonly route: RoutingAction;
  readonly unlimited: boolean;
} {
  const rank = Math.max(...routes.map(({ action }) => ACTIONS.indexOf(action)));
  return { route: ACTIONS[rank] ?? "reject", unlimited: routes.some(({ unlimited }) => unlimited) };
}

function sum(values: readonly bigint[]): number {
  return Number(values.reduce((all, value) => all + value, 0n));
}

function best(records: readonly ScoreRecord[]): ScoreRecord {
  const [first] = records.toSorted((a, b) => pointsOf(b) - pointsOf(a));
  if (first === undefined) throw new Error("an attack needs a wallet");
  return first;
}

/** The score; an insufficient record, which has none, ranks below all others. */
function pointsOf({ outcome }: ScoreRecord): number {
  return outcome.kind === "scored" ? outcome.ahsScore : -1;
}

function costOf(
  { ledger }: World,
  wallets: readonly Address[],
  extraGas: number,
): { calls: number; gas: number } {
  const calls = wallets.flatMap((wallet) => ledger.calls.get(wallet) ?? []);
  const gas = calls.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0);
  return { calls: calls.length, gas: gas + extraGas };
}
