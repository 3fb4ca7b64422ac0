import type { Address } from "viem";
import type { Random } from "../devnet/population/random.ts";
import { newAddress } from "./addresses.ts";
import { deedOf } from "./agent.ts";
import { poisson } from "./draw.ts";
import { type Account, fund, listOf, mine } from "./ledger.ts";
import type { Task } from "./tasks.ts";
import { DAY, type World } from "./world.ts";

/** Where an attack takes place, and the stream of numbers that it draws from. */
export type Stage = { readonly world: World; readonly random: Random };

/** Result of an attack: the wallets that it wants scored, and its cost besides their own calls. */
export type Staged = { readonly wallets: readonly Address[]; readonly extraGas: number };

/** Something done to raise one's own score. */
export type Attack = {
  readonly name: string;
  /** Description for a reader. */
  readonly what: string;
  /** The bar: at most D or not scored at all; null without one. */
  readonly bar: "at_most_d" | null;
  /** Whether it makes a record that looks honest and busy: such wallets are compared with honest ones. */
  readonly forges?: true;
  readonly stage: (stage: Stage) => Staged;
};

/** Something done to another's wallet, whose record must not change. */
export type Nuisance = {
  readonly name: string;
  readonly what: string;
  readonly harass: (stage: Stage, victim: Address) => void;
};

/** A method that no other part of the world uses. */
export const ANY_METHOD = "0x12345678";

/** Gas of the cheapest call that leaves a trace in a contract. */
export const CHEAP_CALL_GAS = 45_000;

/** Gas of a plain transfer, and of putting a small contract on chain. */
export const TRANSFER_GAS = 21_000;
export const DEPLOY_GAS = 250_000;

/** Never fails, pays the market's price, estimates its gas: the least that a call can cost. */
export const CHEAPEST = { outOfGas: 0, overpay: () => 1, usedShare: [0.85, 0.95] as const };

/** A wallet that is followed from the start; by default it is of the attack's first day and came from an exchange. */
export function attacker(
  { world, random }: Stage,
  options: { readonly funder?: Address; readonly ageDays?: number } = {},
): Address {
  const { ledger, start } = world;
  const wallet = newAddress(random);
  const firstFunder = options.funder ?? random.pick(world.publicFunders);
  const existedAt = start - (options.ageDays ?? 0) * DAY;
  ledger.accounts.set(wallet, { address: wallet, hasCode: false, creator: null, firstFunder, existedAt });
  ledger.calls.set(wallet, []);
  fund(ledger, { from: firstFunder, to: wallet, time: start, usd: 500 });
  return wallet;
}

/** A contract of the attacker's making. */
export function ownContract(
  { world, random }: Stage,
  { creator, existedAt }: { readonly creator: Address; readonly existedAt: number },
): Account {
  const account = { address: newAddress(random), hasCode: true, creator, firstFunder: null, existedAt };
  world.ledger.accounts.set(account.address, account);
  return account;
}

/** An account of the attacker's that is not followed, funded through an exchange. */
export function hidden({ world, random }: Stage): Address {
  const address = newAddress(random);
  world.ledger.accounts.set(address, {
    address,
    hasCode: false,
    creator: null,
    firstFunder: random.pick(world.publicFunders),
    existedAt: world.start,
  });
  return address;
}

/** Makes so many calls at random moments of the world's last days, the tasks in turn; a call fails with the given probability. */
export function act(
  { world, random }: Stage,
  wallet: Address,
  plan: {
    readonly calls: number;
    readonly days: number;
    readonly tasks: readonly Task[];
    readonly failure?: number;
  },
): void {
  const until = world.start + world.days * DAY;
  for (let i = 0; i < plan.calls; i += 1) {
    const task = plan.tasks[i % plan.tasks.length];
    if (task === undefined) throw new RangeError("an attack needs a task");
    // One call in each of so many equal parts: the rhythm that scores best without being a metronome.
    const time = until - plan.days * DAY + ((i + random.next()) / plan.calls) * plan.days * DAY;
    const deed = deedOf(random, CHEAPEST, { task, time, failure: plan.failure ?? 0 });
    mine({ ...world, random }, wallet, deed);
  }
}

/** Strangers of the attacker's own call the given places, and others that no followed wallet deals with; the gas of all of it. */
export function sendStrangers(
  { world, random }: Stage,
  plan: {
    readonly strangers: number;
    readonly places: readonly Address[];
    readonly callsEach: number;
    readonly elsewhereEach: number;
  },
): number {
  const { ledger, start, days, readShare } = world;
  const moment = () => start + random.next() * days * DAY;
  for (let i = 0; i < plan.strangers; i += 1) {
    const account = hidden({ world, random });
    for (const counterparty of plan.places) {
      const calls = poisson(random, (plan.callsEach / plan.places.length) * readShare);
      if (calls > 0) ledger.dealings.push({ account, counterparty, time: moment(), calls, sentMicroUsd: 0n });
    }
    for (let n = poisson(random, plan.elsewhereEach * readShare); n > 0; n -= 1) {
      listOf(ledger.elsewhere, account).push(moment());
    }
  }
  return plan.strangers * (TRANSFER_GAS + (plan.callsEach + plan.elsewhereEach) * 50_000);
}

/** Merchants that stood a month before the world began, in random order. */
export function oldMerchants({ world, random }: Stage, count: number): readonly Account[] {
  return random.sample(
    world.places.merchant.filter(({ existedAt }) => existedAt < world.start - 30 * DAY),
    count,
  );
}

/** Venues that stood a month before the world began, in random order. */
export function oldVenues({ world, random }: Stage, count: number): readonly Account[] {
  return random.sample(
    world.places.venue.filter(({ existedAt }) => existedAt < world.start - 30 * DAY),
    count,
  );
}
