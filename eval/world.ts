import type { Address } from "viem";
import { type Random, seededRandom } from "../devnet/population/random.ts";
import { newAddress } from "./addresses.ts";
import { logBetween } from "./draw.ts";
import { type Account, type Ledger, openLedger } from "./ledger.ts";
import { createMarket, type Market } from "./market.ts";

export const DAY = 86_400;

export type PlaceKind = "venue" | "escrow" | "target" | "aggregator" | "merchant";

/** Contracts and payees by kind, the busiest first. */
type Places = Readonly<Record<PlaceKind, readonly Account[]>>;

/** A chain with its places and funders, before the first act on it. */
export type World = {
  readonly random: Random;
  /** Unix seconds. */
  readonly start: number;
  readonly days: number;
  readonly market: Market;
  readonly ledger: Ledger;
  readonly places: Places;
  /** Exchanges, bridges and faucets that the service's data file names. */
  readonly publicFunders: readonly Address[];
  /** One that it does not name. */
  readonly unlistedFunder: Address;
  readonly mixer: Address;
  /** Share of the chain's blocks that the service reads because a followed wallet, simulated here or not, acts in them. */
  readonly readShare: number;
};

/** A world that follows from its seed: everything else in it is drawn from the same stream. */
export function createWorld(seed: string, days: number): World {
  const random = seededRandom(seed);
  // A Monday of 2025, and up to a week more, so that no week of the year is special.
  const start = 1_748_822_400 + random.int(0, 6) * DAY;
  const ledger = openLedger(start);
  const market = createMarket(random.fork("market"), { start, days });
  const publicFunders = Array.from({ length: 6 }, () => newAddress(random));
  const unlistedFunder = newAddress(random);
  const mixer = newAddress(random);
  ledger.flags.set(mixer, "mixer");
  ledger.accounts.set(mixer, {
    address: mixer,
    hasCode: true,
    creator: newAddress(random),
    firstFunder: null,
    existedAt: start - 900 * DAY,
  });
  for (const { address } of [market.usdc, market.wrapped, ...market.majors, ...market.unlisted]) {
    ledger.accounts.set(address, someToken(random, address, start));
  }
  const funders = { publicFunders, unlistedFunder };
  const make = (count: number, build: (random: Random) => Account): readonly Account[] => {
    const made = Array.from({ length: count }, () => build(random));
    for (const account of made) ledger.accounts.set(account.address, account);
    return made;
  };
  const contract = (from: Random) => someContract(from, { start, days });
  const places: Places = {
    venue: make(60, contract),
    escrow: make(10, contract),
    target: make(40, contract),
    aggregator: make(40, contract),
    merchant: make(300, (from) => somePayee(from, { start, days, ...funders })),
  };
  return {
    random,
    start,
    days,
    market,
    ledger,
    places,
    ...funders,
    mixer,
    readShare: random.between(0.05, 0.4),
  };
}

/** Who first funded an account: mostly a known exchange or bridge, now and then one that no data file names. */
export function someFunder(
  random: Random,
  { publicFunders, unlistedFunder }: Pick<World, "publicFunders" | "unlistedFunder">,
): Address {
  return random.chance(0.04) ? unlistedFunder : random.pick(publicFunders);
}

type Span = { readonly start: number; readonly days: number };

function someToken(random: Random, address: Address, start: number): Account {
  const existedAt = start - logBetween(random, 5, 1_200) * DAY;
  return { address, hasCode: true, creator: newAddress(random), firstFunder: null, existedAt };
}

/** A contract of a project of its own: mostly months or years old, one in eight deployed while the world runs. */
function someContract(random: Random, { start, days }: Span): Account {
  const existedAt = random.chance(0.125)
    ? start + random.between(0, days * 0.6) * DAY
    : start - logBetween(random, 20, 1_200) * DAY;
  return {
    address: newAddress(random),
    hasCode: true,
    creator: newAddress(random),
    firstFunder: null,
    existedAt,
  };
}

/** An account that is paid: two in three older than the world by a month or more. */
function somePayee(
  random: Random,
  { start, days, ...funders }: Span & Pick<World, "publicFunders" | "unlistedFunder">,
): Account {
  const existedAt = random.chance(0.67)
    ? start - logBetween(random, 30, 900) * DAY
    : start + random.between(-30, days * 0.6) * DAY;
  return {
    address: newAddress(random),
    hasCode: random.chance(0.15),
    creator: null,
    firstFunder: someFunder(random, funders),
    existedAt,
  };
}
