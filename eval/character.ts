import type { Address } from "viem";
import type { Random } from "../devnet/population/random.ts";
import { type Agent, enrol, follow, type Routine, type Temper } from "./agent.ts";
import type { Bazaar } from "./bazaar.ts";
import { logBetween, poisson } from "./draw.ts";
import { listOf } from "./ledger.ts";
import type { Span } from "./rhythm.ts";
import { temperOf } from "./tempers.ts";
import type { Trade } from "./trades.ts";
import { DAY, type World } from "./world.ts";

/** Where a character lives, and the stream of numbers that it draws from. */
export type Scene = { readonly world: World; readonly random: Random; readonly bazaar: Bazaar };

/** A kind of wallet as people know it, whatever the model makes of it. */
export type Character = {
  readonly name: string;
  /** Description for a reader. */
  readonly what: string;
  /** Grade that an expert gives it: A or B is good for money at once, C for an escrow. */
  readonly worth: "A" | "B" | "C";
  /** Lets one of it live for the world's days, or one group; the wallets to score. */
  readonly live: (scene: Scene) => readonly Address[];
};

/** A kind of wallet that does harm or is of no use. */
export type Harm = Omit<Character, "worth">;

/** All of the world's days but for a start of up to two. */
export function spanOf({ world, random }: Scene): Span {
  return { from: world.start + random.between(0, 2) * DAY, until: world.start + world.days * DAY };
}

/** The temper of a sound agent of a trade, with what is special about it. */
export function soundTemper(
  { random }: Scene,
  { trade, span, ...special }: { readonly trade: Trade; readonly span: Span } & Partial<Temper>,
): Temper {
  return { ...temperOf("healthy", { random, trade, span }), ...special };
}

/** Fails at a steady rate, drawn from a range; those retried soon fail no more often. */
export function failing(
  { random }: Scene,
  [least, most]: readonly [number, number],
): Pick<Temper, "failure"> {
  const rate = random.between(least, most);
  return { failure: () => rate };
}

/** Never tries again what failed: another was faster. */
export const NO_RETRY: Temper["retry"] = { chance: 0, delay: [60, 120], failure: () => 0, most: 0 };

/** Enrols an agent and lets it live a routine; the wallet. */
export function settleAs(
  scene: Scene,
  temper: Temper,
  routine: Routine | ((agent: Agent) => Routine),
): readonly Address[] {
  const agent = enrol(scene.world, scene.random);
  lead(scene, agent, { temper, routine: typeof routine === "function" ? routine(agent) : routine });
  return [agent.wallet];
}

/** Lets an enrolled agent live a routine. */
export function lead(
  { world, random }: Scene,
  { wallet }: Pick<Agent, "wallet">,
  life: { readonly temper: Temper; readonly routine: Routine },
): void {
  follow({ ...world, random }, wallet, life);
}

/** Registers a contract that a stranger deployed. Only `readShare` of its users are in blocks that are read. */
export function someContract(
  { world, random }: Scene,
  {
    address,
    creator,
    existedAt,
    users,
  }: {
    readonly address: Address;
    readonly creator: Address;
    readonly existedAt: number;
    readonly users: readonly [number, number];
  },
): { readonly address: Address } {
  const { ledger, readShare, start, days } = world;
  ledger.accounts.set(address, { address, hasCode: true, creator, firstFunder: null, existedAt });
  const until = start + days * DAY;
  for (let n = poisson(random, logBetween(random, ...users) * readShare); n > 0; n -= 1) {
    const account: Address = `0x${address.slice(2, 34)}${n.toString(16).padStart(8, "0")}`;
    const time = Math.floor(random.between(Math.max(start, existedAt), until));
    ledger.accounts.set(account, {
      address: account,
      hasCode: false,
      creator: null,
      firstFunder: random.pick(world.publicFunders),
      existedAt: start - random.between(0, 400) * DAY,
    });
    ledger.dealings.push({ account, counterparty: address, time, calls: random.int(1, 4), sentMicroUsd: 0n });
    for (let i = poisson(random, 20 * readShare); i > 0; i -= 1) {
      listOf(ledger.elsewhere, account).push(random.between(start, until));
    }
  }
  return { address };
}
