import type { Address } from "viem";
import {
  ANY_METHOD,
  type Attack,
  act,
  attacker,
  hidden,
  oldMerchants,
  oldVenues,
  ownContract,
  type Stage,
  type Staged,
} from "./attack.ts";
import { mine } from "./ledger.ts";
import { approve, GAS, pay, type Task, wrap } from "./tasks.ts";
import { DAY } from "./world.ts";

/** A thousand calls of the given kinds over 90 days. */
export function trivial(
  name: string,
  { what, tasks }: { readonly what: string; readonly tasks: (stage: Stage) => readonly Task[] },
): Attack {
  const stage = (at: Stage): Staged => {
    const wallet = attacker(at, { ageDays: 60 });
    act(at, wallet, { calls: 1_000, days: 90, tasks: tasks(at) });
    return { wallets: [wallet], extraGas: 0 };
  };
  return { name, what, bar: "at_most_d", stage };
}

/** Every kind of trivial call. */
export function mixture(stage: Stage): readonly Task[] {
  const { market } = stage.world;
  return [
    approve(market.usdc),
    wrap(market, 5),
    ...oldMerchants(stage, 4).map(({ address }) => pay(market, address, () => 0.001)),
    ...oldVenues(stage, 4).map(emptyCall),
    ...worthlessPayments(stage),
  ];
}

/** Payments in a token that the attacker made. */
export function worthlessPayments(stage: Stage): readonly Task[] {
  const token = {
    address: ownContract(stage, { creator: hidden(stage), existedAt: stage.world.start }).address,
    decimals: 18,
  };
  return oldMerchants(stage, 8).map(({ address }) => pay(stage.world.market, address, () => 1_000, token));
}

/** A call that leaves no trace. */
export function emptyCall({ address }: { readonly address: Address }): Task {
  return () => ({ to: address, selector: ANY_METHOD, effect: "none", gas: 28_000 });
}

/** Deposits and withdrawals of the same tokens, ten minutes apart. */
export function roundTrips(stage: Stage): Staged {
  const { world, random } = stage;
  const { usdc } = world.market;
  const wallet = attacker(stage, { ageDays: 60 });
  const venues = oldVenues(stage, 8);
  for (let i = 0; i < 500; i += 1) {
    const venue = random.pick(venues).address;
    const time = world.start + ((i + random.next() * 0.9) / 500) * world.days * DAY;
    for (const [later, amount] of [
      [0, -20_000_000n],
      [600, 19_990_000n],
    ] as const) {
      mine({ ...world, random }, wallet, {
        time: time + later,
        to: venue,
        selector: ANY_METHOD,
        effect: "other",
        emitters: [usdc.address, venue],
        moves: [{ token: usdc.address, amount }],
        gas: GAS.call,
        outcome: "ok",
        overpay: 1,
        usedShare: 0.9,
      });
    }
  }
  return { wallets: [wallet], extraGas: 0 };
}
