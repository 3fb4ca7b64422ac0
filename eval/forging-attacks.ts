import type { Address } from "viem";
import { newAddress } from "./addresses.ts";
import { deedOf } from "./agent.ts";
import {
  act,
  attacker,
  CHEAP_CALL_GAS,
  CHEAPEST,
  oldVenues,
  type Stage,
  type Staged,
  TRANSFER_GAS,
} from "./attack.ts";
import { fund, mine } from "./ledger.ts";
import { payNative, swap, type Task, work } from "./tasks.ts";
import { DAY } from "./world.ts";

const HOUR = 3_600;
const METHODS = 8;
/** Gas of one payment in a facilitator's batch: the signature, a new nonce and two balances. */
const SETTLED_GAS = 45_000;

/** Cheap calls with an effect to so many established contracts, each by eight methods. */
export function manyPairs(stage: Stage, venues: number): readonly Task[] {
  return oldVenues(stage, venues).flatMap((venue) =>
    Array.from({ length: METHODS }, (_, i) => work(venue, `0x1234567${i}`, CHEAP_CALL_GAS)),
  );
}

/** One call a week for six weeks, then 200 within six hours. */
export function sleeper(stage: Stage): Staged {
  const { world, random } = stage;
  const until = world.start + world.days * DAY;
  const wallet = attacker(stage, { ageDays: 43 - world.days });
  const tasks = manyPairs(stage, 8);
  const times = [
    ...Array.from({ length: 6 }, (_, week) => until - (42.5 - 7 * week) * DAY),
    ...Array.from({ length: 200 }, (_, i) => until - 6 * HOUR + ((i + random.next()) / 200) * 6 * HOUR),
  ];
  for (const [i, time] of times.entries()) {
    const task = tasks[(i * 13) % tasks.length];
    if (task === undefined) throw new RangeError("an attack needs a task");
    mine({ ...world, random }, wallet, deedOf(random, CHEAPEST, { task, time, failure: 0 }));
  }
  return { wallets: [wallet], extraGas: 0 };
}

/** So many calls within so many days, by a wallet that is no older. */
export function burst(
  stage: Stage,
  { days, calls }: { readonly days: number; readonly calls: number },
): Staged {
  const wallet = attacker(stage, { ageDays: days - stage.world.days });
  act(stage, wallet, { calls, days, tasks: manyPairs(stage, 8) });
  return { wallets: [wallet], extraGas: 0 };
}

/**
 * Agents of one owner, each funded through an exchange, each paying 10 of the owner's own payees, twice as many as agents; each
 * payee is paid by five of them, which vouch for it by that.
 */
export function farm(stage: Stage, agents: number): Staged {
  const { world, random } = stage;
  const payees = Array.from({ length: 2 * agents }, () => agedAccount(stage, 15));
  const wallets = Array.from({ length: agents }, () => attacker(stage, { ageDays: 76 - world.days }));
  for (const wallet of wallets) {
    const tasks = random.sample(payees, 10).map((payee) => payNative(world.market, payee, () => 0.02));
    act(stage, wallet, { calls: 300, days: 75, tasks });
  }
  for (const payee of payees) sendBack(stage, payee, random.pick(wallets));
  return { wallets, extraGas: payees.length * TRANSFER_GAS };
}

/** 700 payments of two cents to two accounts of the owner's own that are months old; the money comes back. */
export function ownAgedPayees(stage: Stage): Staged {
  const { world } = stage;
  const wallet = attacker(stage, { ageDays: 76 - world.days });
  const payees = [agedAccount(stage, 120), agedAccount(stage, 120)];
  const tasks = payees.map((payee) => payNative(world.market, payee, () => 0.02));
  act(stage, wallet, { calls: 700, days: 75, tasks });
  for (const payee of payees) sendBack(stage, payee, wallet);
  return { wallets: [wallet], extraGas: 12 * TRANSFER_GAS };
}

/** The same payments signed, and carried out in batches by a facilitator of the owner's own; the wallet pays no gas. */
export function ownSignedPayments(stage: Stage): Staged {
  const { world, random } = stage;
  const days = 75;
  const payments = 700;
  const authorizer = attacker(stage, { ageDays: days + 1 - world.days });
  const payees = [agedAccount(stage, 120), agedAccount(stage, 120)];
  const from = world.start + (world.days - days) * DAY;
  for (let i = 0; i < payments; i += 1) {
    const time = from + ((i + random.next()) / payments) * days * DAY;
    world.ledger.authorizations.push({ authorizer, payee: random.pick(payees), time, count: 1, usd: 0.02 });
  }
  for (const payee of payees) sendBack(stage, payee, authorizer);
  return { wallets: [authorizer], extraGas: payments * SETTLED_GAS + 12 * TRANSFER_GAS };
}

/** Six aged wallets send the same 500 dollars round and round, and swap them to and fro at a real venue. */
export function washRing(stage: Stage): Staged {
  const { world } = stage;
  const { usdc, wrapped } = world.market;
  const wallets = Array.from({ length: 6 }, () => attacker(stage, { ageDays: 120 - world.days }));
  const [venue] = oldVenues(stage, 1);
  if (venue === undefined) throw new Error("the world has no old venue");
  for (const [place, wallet] of wallets.entries()) {
    const next = wallets[(place + 1) % wallets.length] ?? wallet;
    const tasks = [
      ...Array.from({ length: 3 }, () => payNative(world.market, next, () => 500)),
      swap(world.market, { venue, sold: usdc, bought: wrapped, usd: 50 }),
    ];
    act(stage, wallet, { calls: 200, days: 60, tasks });
  }
  return { wallets, extraGas: 0 };
}

/** An account of the owner's that an exchange funded so many days before the world's start. */
function agedAccount({ world, random }: Stage, ageDays: number): Address {
  const address = newAddress(random);
  const firstFunder = random.pick(world.publicFunders);
  const existedAt = world.start - ageDays * DAY;
  world.ledger.accounts.set(address, { address, hasCode: false, creator: null, firstFunder, existedAt });
  return address;
}

/** Returns what was paid, once every two weeks. */
function sendBack({ world }: Stage, from: Address, to: Address): void {
  for (let day = 28; day < world.days; day += 14) {
    fund(world.ledger, { from, to, time: world.start + day * DAY, usd: 1 });
  }
}
