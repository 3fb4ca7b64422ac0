import {
  type AgentContext,
  attempt,
  favourites,
  habitsOf,
  own,
  type Purse,
  planned,
  type Reliability,
} from "./agent.ts";
import { dealing } from "./archetypes/traders.ts";
import { burnGas, performTask, reportPrice, runOnDemand, work } from "./deeds.ts";
import { fundWallet } from "./onboarding.ts";
import type { PlannedCall } from "./plan-types.ts";
import { type Random, seededRandom } from "./random.ts";
import { atRandom, MINUTE, type Span, wakingHours } from "./rhythm.ts";
import { poolsOf } from "./roster.ts";
import { approveForever, sendCoin, sendToken } from "./token-deeds.ts";
import type { World } from "./world.ts";

const RELIABILITY: Reliability = { failureRate: 0.03, retryMinutes: [2, 30] };
const SHOPPING_SHARE = 0.36;
const SHORTEST_APPROACH = 30 * MINUTE;

/** People who are no agents, each calling what agents call, once every few days. */
export function planBackground(world: World, seed: string, history: Span): PlannedCall[] {
  return userContexts(world, seed).flatMap((context) => {
    const random = context.random.fork("life");
    const arrival = arrivalOf(context, random, history);
    const rate = { perDay: random.between(0.09, 0.26), hours: wakingHours(random.int(0, 23), 15) };
    const active = { start: arrival + SHORTEST_APPROACH, end: history.end };
    return [
      ...arrive(context, arrival),
      ...atRandom(random, active, rate).flatMap((at) => userStep(context, at)),
    ];
  });
}

/** The background users in the form of agents, so that they act through the same deeds. */
export function userContexts(world: World, seed: string): AgentContext[] {
  const root = seededRandom(`${seed}/users`);
  const peers = world.users.map((user) => user.address);
  return world.users.map((wallet, index) => {
    const random = root.fork(String(index));
    const pools = poolsOf(random, purseOf(index), world);
    return { random, wallet, label: `user/${index}`, index, peers, habits: habitsOf(random), pools, world };
  });
}

/** One of the things that people do on this chain; a third of it in shops of their own choice, where no agent goes. */
export function userStep(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  if (random.chance(SHOPPING_SHARE)) return shop(context, random, at);
  const { contracts, keeperTargets, feeds, merchants, usdc } = context.world;
  if (random.chance(0.2))
    return [own(context, at, sendCoin(random.pick(merchants), BigInt(random.int(1, 9)) * 10n ** 15n))];
  // It is never broken for them.
  if (random.chance(0.1)) return [own(context, at, work(contracts.repairableTarget)("success"))];
  if (random.chance(0.12)) {
    // Burning can only fail for want of gas.
    const outcome = random.chance(0.1) ? "out-of-gas" : "success";
    return [own(context, at, burnGas(contracts.gasBurner, random.int(50, 400))(outcome))];
  }
  const feed = random.pick(feeds);
  const deeds = [
    performTask(random.pick(keeperTargets), random.int(0, 4)),
    reportPrice(feed.address, feed.answer),
    runOnDemand(contracts.revertOnDemand, random.pick([1, 2, 3, 4] as const)),
    sendToken(usdc.address, random.pick(merchants), BigInt(random.int(1, 15)) * 1_000_000n),
    ...(context.pools.length > 0 ? [dealing(context, random)] : []),
  ];
  return attempt(context, random, { at, deed: random.pick(deeds), reliability: RELIABILITY });
}

function shop(context: AgentContext, random: Random, at: number): PlannedCall[] {
  const { shops, usdc } = context.world;
  const place = random.pick(favourites(context, "shops", { among: shops, count: [3, 6] }));
  if (random.chance(0.5)) return [own(context, at, sendCoin(place, BigInt(random.int(1, 9)) * 10n ** 15n))];
  const deed = sendToken(usdc.address, place, BigInt(random.int(1, 15)) * 1_000_000n);
  return attempt(context, random, { at, deed, reliability: RELIABILITY });
}

function arrive(context: AgentContext, at: number): PlannedCall[] {
  const { world, wallet, pools, random } = context;
  const purse = purseOf(context.index);
  const later = at + SHORTEST_APPROACH;
  const approvals = [
    ...pools.flatMap((pool) => pool.tokens.map((token) => approveForever(token.address, pool.address))),
    ...(world.clients.includes(wallet.address)
      ? [approveForever(world.usdc.address, world.contracts.jobEscrow)]
      : []),
  ];
  return [
    ...fundWallet(world, random.fork("arrival"), {
      wallet: wallet.address,
      purse,
      pools,
      at,
      from: null,
      dependants: 0,
    }),
    ...usdcBesides(context, at),
    ...approvals.map((deed) => own(context, later, deed)),
  ];
}

/** Payees and clients of agents exist before them, funded first by an exchange; the others come within days. */
function arrivalOf({ world, wallet }: AgentContext, random: Random, history: Span): number {
  const part = random.between(0, 0.02);
  if (world.clients.includes(wallet.address) || world.merchants.includes(wallet.address))
    return history.start;
  return Math.floor(history.start + part * (history.end - history.start));
}

/** Traders whose pool lacks USDC get some as well, for everyone pays in it. */
function usdcBesides({ world, wallet, pools, random }: AgentContext, at: number): PlannedCall[] {
  if (pools.length === 0 || pools.some((pool) => pool.tokens.includes(world.usdc))) return [];
  const exchange = { address: random.fork("usdc").pick(world.exchanges).address, habits: habitsOf(random) };
  return [planned(exchange, at, sendToken(world.usdc.address, wallet.address, 5_000_000_000n)("success"))];
}

/** Every third user trades. */
function purseOf(index: number): Purse {
  return index % 3 === 0 ? { pools: [1, 1] } : "usdc";
}
