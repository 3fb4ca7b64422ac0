import type { Contracts } from "../contract-list.ts";
import { habitsOf } from "./agent.ts";
import { planBackground } from "./background.ts";
import { cutBlocks, type PlannedBlock } from "./blocks.ts";
import { activeFrom, onboard, openShops, stockExchanges } from "./onboarding.ts";
import type { PlannedCall } from "./plan-types.ts";
import { type Random, seededRandom } from "./random.ts";
import { DAY, HOUR, type Span } from "./rhythm.ts";
import { createRoster, type Member } from "./roster.ts";
import { createWorld, type World } from "./world.ts";

export type Population = {
  readonly world: World;
  readonly roster: readonly Member[];
  readonly blocks: readonly PlannedBlock[];
};

/** Every block costs the node a hash over the whole state, so there are fewer than there may be. */
const BLOCKS_PER_DAY = 25;

/** Everyone and everything they did within the history: the same for the same options, on every machine. */
export function planPopulation(options: {
  readonly contracts: Contracts;
  readonly seed: string;
  /** Agents; as many background users join them. */
  readonly wallets: number;
  /** Unix seconds. */
  readonly history: Span;
  readonly maxBlocks: number;
}): Population {
  const { contracts, seed, wallets, history, maxBlocks } = options;
  const world = createWorld(contracts, seed, wallets);
  const roster = createRoster(world, seed, wallets);
  const random = seededRandom(`${seed}/history`);
  const calls = [
    ...stockExchanges(world, history.start, habitsOf(random)),
    ...openShops(world, history.start, habitsOf(random)),
    ...planBackground(world, seed, history),
    ...roster.flatMap((member) => planMember(member, history)),
  ].filter((call) => call.at <= history.end);
  const target = Math.ceil(((history.end - history.start) / DAY) * BLOCKS_PER_DAY);
  const blocks = cutBlocks(calls, random, { blocks: maxBlocks, target: Math.min(target, maxBlocks) });
  return { world, roster, blocks };
}

function planMember(member: Member, history: Span): PlannedCall[] {
  const { archetype, context } = member;
  const { joinsAt: joins = joinsAtTheStart } = archetype;
  const joinsAt = joins(context.random.fork("joining"), history);
  const span = { start: activeFrom(joinsAt), end: history.end };
  const calls = archetype.plan(context, span, context.random.fork("plan"));
  return [...onboard(member, joinsAt, history), ...calls];
}

function joinsAtTheStart(random: Random, history: Span): number {
  const latest = Math.min(36 * HOUR, (history.end - history.start) / 20);
  return Math.floor(history.start + random.between(0.05, 1) * latest);
}
