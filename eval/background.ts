import type { Address } from "viem";
import type { Random } from "../devnet/population/random.ts";
import { newAddress } from "./addresses.ts";
import { logBetween, poisson, zipfPicker } from "./draw.ts";
import { listOf } from "./ledger.ts";
import { DAY, type PlaceKind, someFunder, type World } from "./world.ts";

const SLICE_DAYS = 5;

/** Users and bots that are no agents, by how many there are of each. */
export type Crowd = { readonly users: number; readonly keepers: number; readonly feeders: number };

/** A crowd that a chain with a few hundred thousand transactions a day shows to a reader of a part of its blocks. */
export const USUAL_CROWD: Crowd = { users: 1_200, keepers: 60, feeders: 40 };

/**
 * Lets users and bots act in many places for the world's days. Only what falls into blocks that the service reads is
 * written down, so that an account that acts rarely is seen once or never.
 */
export function actInBackground(world: World, crowd: Crowd): void {
  const random = world.random.fork("background");
  const pickers = {
    venue: zipfPicker(world.places.venue),
    escrow: zipfPicker(world.places.escrow),
    target: zipfPicker(world.places.target),
    aggregator: zipfPicker(world.places.aggregator),
    merchant: zipfPicker(world.places.merchant),
  };
  const choose = (kind: PlaceKind, count: number): Address[] =>
    Array.from({ length: count }, () => pickers[kind](random).address);
  for (let i = 0; i < crowd.users; i += 1) {
    const visited = new Set([
      ...choose("venue", random.int(1, 8)),
      ...choose("target", random.int(0, 2)),
      ...choose("escrow", random.chance(0.3) ? random.int(1, 2) : 0),
      ...choose("merchant", random.int(0, 4)),
    ]);
    // A person's few acts a week up to a trader's dozens a day.
    live(world, random, {
      visited: [...visited],
      perDay: logBetween(random, 0.1, 20),
      elsewhere: random.between(0.2, 0.9),
    });
  }
  for (let i = 0; i < crowd.keepers; i += 1) {
    live(world, random, {
      visited: [...new Set(choose("target", random.int(2, 12)))],
      perDay: logBetween(random, 5, 200),
      elsewhere: random.between(0, 0.6),
    });
  }
  for (let i = 0; i < crowd.feeders; i += 1) {
    live(world, random, {
      visited: random.sample(world.places.aggregator, random.int(4, 20)).map(({ address }) => address),
      perDay: logBetween(random, 20, 300),
      elsewhere: random.between(0, 0.3),
    });
  }
}

type Habit = {
  readonly visited: readonly Address[];
  readonly perDay: number;
  /** Share of its acts that go to no counterparty of a followed wallet. */
  readonly elsewhere: number;
};

/** One stranger's life: active for all or a part of the world's days. */
function live(world: World, random: Random, { visited, perDay, elsewhere }: Habit): void {
  const { ledger, start, days, readShare } = world;
  const account = newAddress(random);
  ledger.accounts.set(account, {
    address: account,
    hasCode: false,
    creator: null,
    firstFunder: someFunder(random, world),
    existedAt: start - random.between(-30, 600) * DAY,
  });
  const from = random.chance(0.6) ? 0 : random.between(0, days);
  const until = random.chance(0.6) ? days : random.between(from, days);
  for (let day = from; day < until; day += SLICE_DAYS) {
    const length = Math.min(SLICE_DAYS, until - day);
    const seen = perDay * length * readShare;
    for (let n = poisson(random, seen * elsewhere); n > 0; n -= 1) {
      listOf(ledger.elsewhere, account).push(start + random.between(day, day + length) * DAY);
    }
    for (const counterparty of visited) {
      const calls = poisson(random, (seen * (1 - elsewhere)) / visited.length);
      if (calls === 0) continue;
      const time = Math.floor(start + random.between(day, day + length) * DAY);
      const sentMicroUsd = BigInt(Math.round(calls * logBetween(random, 0.5, 500) * 1e6));
      ledger.dealings.push({ account, counterparty, time, calls, sentMicroUsd });
    }
  }
}
