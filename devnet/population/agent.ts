import type { Address } from "viem";
import type { DeedOf } from "./deed.ts";
import type { ArchetypeName, Deed, Outcome, PlannedCall } from "./plan-types.ts";
import type { Random } from "./random.ts";
import { MINUTE, type Span } from "./rhythm.ts";
import type { KeyedWallet } from "./wallets.ts";
import type { Pool, World } from "./world.ts";

/** Settings that an account uses in every transaction. */
export type Habits = {
  /** Gas limit over what the call needs at most. */
  readonly headroom: number;
  /** Wei per gas on top of the base fee. */
  readonly tipWei: bigint;
  /** How much likelier its calls fail than its archetype's do. */
  readonly clumsiness: number;
};

/** Everything that a generator may look at. */
export type AgentContext = {
  /** Of this wallet alone. */
  readonly random: Random;
  /** The acting wallet. */
  readonly wallet: KeyedWallet;
  /** Unique among all; the start of the keys of the jobs it takes. */
  readonly label: string;
  /** Position among the wallets of its archetype. */
  readonly index: number;
  /** The wallets of its archetype, itself included. */
  readonly peers: readonly Address[];
  readonly habits: Habits;
  /** The pools it trades on, of which it holds the tokens. */
  readonly pools: readonly Pool[];
  readonly world: World;
};

/** Starting funds of a wallet: native coin only, USDC as well, or the tokens of so many pools (least, most). */
export type Purse = "coin" | "usdc" | { readonly pools: readonly [number, number] };

/** A kind of agent: how many of 200 there are, and what one does. */
export type Archetype = {
  readonly name: ArchetypeName;
  /** Wallets among 200. */
  readonly share: number;
  readonly purse: Purse;
  /** Unix seconds at which one becomes active; within the first day and a half of the history by default. */
  joinsAt?(random: Random, history: Span): number;
  /** Its calls within the span, in any order, by a stream of their own. */
  plan(context: AgentContext, span: Span, random: Random): PlannedCall[];
  /** One step of its life from a time on, for the living chain; null where a living step would change what it is. */
  readonly step: ((context: AgentContext, at: number) => PlannedCall[]) | null;
};

/** An archetype that does the same at all of its times, and at each step on the living chain. */
export function always(
  about: Pick<Archetype, "name" | "share" | "purse">,
  act: (context: AgentContext, at: number) => PlannedCall[],
  timesOf: (random: Random, span: Span) => readonly number[],
): Archetype {
  const plan: Archetype["plan"] = (context, span, random) =>
    timesOf(random, span).flatMap((at) => act(context, at));
  return { ...about, plan, step: act };
}

/** The habits of a wallet, drawn from its stream. */
export function habitsOf(random: Random): Habits {
  const stream = random.fork("habits");
  return {
    headroom: stream.between(1.04, 1.45),
    tipWei: BigInt(Math.round(stream.between(20, 250))) * 1_000_000n,
    clumsiness: stream.between(0.2, 2.4),
  };
}

/** A call of a wallet at a time; its gas limit is what the deed needs at most with the wallet's headroom, or too little. */
export function planned(actor: { address: Address; habits: Habits }, at: number, deed: Deed): PlannedCall {
  const { gas, ...sent } = deed;
  const enough = Math.ceil(gas.most * (gas.most > 21_000 ? actor.habits.headroom : 1));
  const gasLimit = deed.outcome === "out-of-gas" ? starvedLimit(deed) : enough;
  return { ...sent, at: Math.floor(at), from: actor.address, gasLimit, tipWei: actor.habits.tipWei };
}

/** A call of the context's own wallet. */
export function own(context: AgentContext, at: number, deed: Deed): PlannedCall {
  return planned({ address: context.wallet.address, habits: context.habits }, at, deed);
}

/** The few of many that a wallet has to do with: between so many (least, most), never more than half of them. */
export function favourites<T>(
  { random }: AgentContext,
  what: string,
  { among, count }: { among: readonly T[]; count: readonly [number, number] },
): T[] {
  const stream = random.fork(what);
  return stream.sample(among, Math.min(stream.int(...count), Math.ceil(among.length / 2)));
}

/** The context of a wallet that does everything with other habits than those it was born with. */
export function withHabits(context: AgentContext, habits: Partial<Habits>): AgentContext {
  return { ...context, habits: { ...context.habits, ...habits } };
}

export type Reliability = {
  readonly failureRate: number;
  /** Minutes until a failed call is tried again, least and most. */
  readonly retryMinutes: readonly [number, number];
};

/** One deed of the context's own wallet that now and then fails and is then tried again until it works. */
export function attempt(
  context: AgentContext,
  random: Random,
  { at, deed, reliability }: { at: number; deed: DeedOf; reliability: Reliability },
): PlannedCall[] {
  const calls: PlannedCall[] = [];
  let when = at;
  const failureRate = reliability.failureRate * context.habits.clumsiness;
  while (random.chance(failureRate) && calls.length < 4) {
    calls.push(own(context, when, deed(wayToFail(random))));
    when += random.between(...reliability.retryMinutes) * MINUTE;
  }
  return [...calls, own(context, when, deed("success"))];
}

/** How a call fails when it does: mostly the target refuses, sometimes the gas is short. */
export function wayToFail(random: Random): Outcome {
  return random.chance(0.25) ? "out-of-gas" : "revert";
}

/** Below what the deed takes in any case, above what a node asks for to accept it at all. */
function starvedLimit(deed: Deed): number {
  const intrinsic = 21_000 + 3_200;
  return Math.max(intrinsic, Math.floor(deed.gas.least * 0.9));
}
