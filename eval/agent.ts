import type { Address } from "viem";
import type { Random } from "../devnet/population/random.ts";
import type { OwnCall } from "../service/model/features/types.ts";
import { newAddress } from "./addresses.ts";
import { gaussian, logBetween } from "./draw.ts";
import { type Deed, fund, mine, type Sender } from "./ledger.ts";
import type { Task } from "./tasks.ts";
import { DAY, someFunder, type World } from "./world.ts";

/** How an agent's calls go and what it does about failures. */
export type Temper = {
  /** Probability that a call fails at a time. */
  readonly failure: (time: number) => number;
  /** Part of the failures that run out of gas. */
  readonly outOfGas: number;
  readonly retry: {
    /** Probability that a failed call is tried again. */
    readonly chance: number;
    /** Seconds from a failure to the next try, the shortest and the longest. */
    readonly delay: readonly [number, number];
    /** Probability that a retry fails, at a time. */
    readonly failure: (time: number) => number;
    readonly most: number;
  };
  /** Middle of the price paid over the market's, at a time. */
  readonly overpay: (time: number) => number;
  /** Gas used over limit, the least and the most. */
  readonly usedShare: readonly [number, number];
};

/** When an agent acts, and what it does then. */
export type Routine = { readonly times: readonly number[]; readonly next: (time: number) => Task };

/** A followed wallet and its owner. */
export type Agent = { readonly wallet: Address; readonly owner: Address | null };

/**
 * Registers a followed wallet: some, or as `owned` asks, were funded by an owner's account of their own, the rest by an exchange
 * or the like.
 */
export function enrol(
  world: World,
  random: Random,
  options: { readonly ageDays?: number; readonly owned?: boolean } = {},
): Agent {
  const { ledger, start } = world;
  const wallet = newAddress(random);
  const owner = random.chance(0.3) || options.owned === true ? newAddress(random) : null;
  const ageDays = options.ageDays ?? logBetween(random, 1, 500);
  if (owner !== null) {
    ledger.accounts.set(owner, {
      address: owner,
      hasCode: false,
      creator: null,
      firstFunder: someFunder(random, world),
      existedAt: start - (ageDays + 1) * DAY,
    });
  }
  const firstFunder = owner ?? someFunder(random, world);
  const existedAt = start - ageDays * DAY;
  ledger.accounts.set(wallet, { address: wallet, hasCode: false, creator: null, firstFunder, existedAt });
  ledger.calls.set(wallet, []);
  for (let day = 0; day < world.days; day += 30) {
    fund(ledger, {
      from: firstFunder,
      to: wallet,
      time: start + day * DAY,
      usd: logBetween(random, 50, 5_000),
    });
  }
  return { wallet, owner };
}

/** Lives a routine in a temper; failures are followed by the retries that it makes of them. Returns all calls made. */
export function follow(
  sender: Sender,
  wallet: Address,
  life: { readonly routine: Routine; readonly temper: Temper },
): readonly OwnCall[] {
  const { routine, temper } = life;
  const { random } = sender;
  const calls: OwnCall[] = [];
  for (const due of routine.times) {
    const task = routine.next(due);
    let time = due;
    let failure = temper.failure(time);
    for (let tries = 0; ; tries += 1) {
      const call = mine(sender, wallet, deedOf(random, temper, { task, time, failure }));
      calls.push(call);
      if (call.ok || tries >= temper.retry.most || !random.chance(temper.retry.chance)) break;
      time += logBetween(random, ...temper.retry.delay);
      failure = temper.retry.failure(time);
    }
  }
  return calls;
}

/** One try of a task, and how it goes by chance. */
export function deedOf(
  random: Random,
  { outOfGas, overpay, usedShare }: Pick<Temper, "outOfGas" | "overpay" | "usedShare">,
  { task, time, failure }: { readonly task: Task; readonly time: number; readonly failure: number },
): Deed {
  const planned = task(time);
  const fails = random.chance(failure);
  return {
    ...planned,
    time,
    gas: planned.gas === 21_000 ? planned.gas : Math.round(planned.gas * random.between(0.9, 1.1)),
    outcome: fails ? (random.chance(outOfGas) ? "out_of_gas" : "revert") : "ok",
    overpay: Math.max(1, overpay(time) * Math.exp(0.06 * gaussian(random))),
    usedShare: planned.gas === 21_000 ? 1 : random.between(...usedShare),
  };
}
