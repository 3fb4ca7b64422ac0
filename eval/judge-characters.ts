import type { Address } from "viem";
import { costBases } from "../service/model/backing/cost-basis.ts";
import type { Policy } from "../service/model/score/policy-shape.ts";
import type { ScoreRecord } from "../service/model/score/record.ts";
import { actInBackground, type Crowd } from "./background.ts";
import { openBazaar, vettedServices } from "./bazaar.ts";
import type { Character, Harm } from "./character.ts";
import { HARMFUL } from "./harmful.ts";
import { HONEST_HISTORIES } from "./honest-histories.ts";
import { HONEST_PAYERS } from "./honest-payers.ts";
import { HONEST_WORKERS } from "./honest-workers.ts";
import { type Routed, routeOf } from "./routing.ts";
import { observe, type Sight, USUAL_SIGHT } from "./score-wallets.ts";
import { spendingOf } from "./spending.ts";
import { createWorld, DAY, type World } from "./world.ts";

const DAYS = 180;

/** Every honest kind of wallet, in the order of the report. */
export const HONEST: readonly Character[] = [...HONEST_WORKERS, ...HONEST_PAYERS, ...HONEST_HISTORIES];

/** A wallet as the service describes and routes it. */
type Judged = Routed & {
  readonly record: ScoreRecord;
  readonly hasSellerProfile: boolean;
  /** Safe amount in dollars. */
  readonly safeUsd: number;
};

/** The wallets of one kind, with all account facts and with those that follow from calls alone. */
export type JudgedCharacter = {
  readonly name: string;
  readonly judged: readonly Judged[];
  readonly judgedWithoutFacts: readonly Judged[];
};

export type JudgedCharacters = {
  readonly honest: readonly JudgedCharacter[];
  readonly harmful: readonly JudgedCharacter[];
};

/** A world of 180 days in which so many of each kind live; the wallets of each, in the order of the lists. */
export function peopleWorld(
  seed: string,
  { lives, crowd }: { readonly lives: number; readonly crowd: Crowd },
): {
  readonly world: World;
  readonly settled: ReadonlyMap<string, readonly Address[]>;
  readonly vetted: ReadonlySet<Address>;
} {
  const world = createWorld(`${seed}/characters`, DAYS);
  actInBackground(world, crowd);
  const bazaar = openBazaar(world);
  const settled = new Map<string, readonly Address[]>();
  for (const { name, live } of [...HONEST, ...HARMFUL]) {
    const wallets = Array.from({ length: lives }, (_, i) =>
      live({ world, bazaar, random: world.random.fork(`${name}-${i}`) }),
    );
    settled.set(name, wallets.flat());
  }
  return { world, settled, vetted: vettedServices(world, bazaar) };
}

/** Lets honest and harmful wallets live, and judges all of them on the last day. */
export function judgeCharacters(
  seed: string,
  { policy, ...size }: { readonly policy: Policy; readonly lives: number; readonly crowd: Crowd },
): JudgedCharacters {
  const { world, settled, vetted } = peopleWorld(seed, size);
  // One after the other: an observer holds the contacts of the whole world.
  const judged = judgeBy(USUAL_SIGHT);
  const judgedWithoutFacts = judgeBy({ ...USUAL_SIGHT, accounts: "contacts", traces: false });
  const resultsOf = (characters: readonly Harm[]) =>
    characters.map(({ name }) => ({
      name,
      judged: judged.get(name) ?? [],
      judgedWithoutFacts: judgedWithoutFacts.get(name) ?? [],
    }));
  return { honest: resultsOf(HONEST), harmful: resultsOf(HARMFUL) };

  function judgeBy(sight: Sight): ReadonlyMap<string, readonly Judged[]> {
    const observer = observe(world, { at: world.start + DAYS * DAY, policy, sight });
    const bases = costBases(spendingOf(world, observer, vetted));
    const judge = (wallet: Address): Judged => {
      const record = observer.score(wallet);
      const safe = bases.get(wallet)?.safe ?? 0n;
      return {
        record,
        ...routeOf(record, safe),
        hasSellerProfile: observer.hasSellerProfile(wallet),
        safeUsd: Number(safe) / 1e6,
      };
    };
    return new Map([...settled].map(([name, wallets]) => [name, wallets.map(judge)]));
  }
}
