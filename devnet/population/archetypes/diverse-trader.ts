import { type AgentContext, type Archetype, attempt, own } from "../agent.ts";
import { type DeedOf, performTask, reportPrice, sendCoin, sendToken, swap } from "../deeds.ts";
import type { PlannedCall } from "../plan-types.ts";
import type { Random } from "../random.ts";
import { atRandom, wakingHours } from "../rhythm.ts";
import { joinsAtTheStart } from "./joining.ts";

const RELIABILITY = { failureRate: 0.012, retryMinutes: [2, 12] } as const;

/** Trades on every pool and deals with many others, in its waking hours. */
export const diverseTrader: Archetype = {
  name: "diverse-trader",
  share: 22,
  purse: { pools: [2, 3] },
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = {
      perDay: random.between(1.4, 2.4),
      hours: wakingHours(random.int(0, 23), random.int(12, 18)),
    };
    return atRandom(random, span, rate).flatMap((at) => trade(context, at));
  },
  step: trade,
};

/** One trade, or one of the other things that somebody with many dealings does. */
export function trade(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  const { world } = context;
  if (random.chance(0.12)) {
    return [own(context, at, sendCoin(random.pick(world.merchants), BigInt(random.int(2, 40)) * 10n ** 15n))];
  }
  const deed = dealing(context, random);
  return attempt(context, random, { at, deed, reliability: RELIABILITY });
}

/** One of a trader's contract calls, with the tokens of its own pools. */
export function dealing({ world, wallet, pools }: AgentContext, random: Random): DeedOf {
  const kind = random.next();
  const pool = random.pick(pools);
  if (kind < 0.6) {
    const dollars = BigInt(random.int(15, 220));
    return swap(pool, wallet.address, { dollars, sellFirst: random.chance(0.5) });
  }
  if (kind < 0.8) {
    const token = random.pick(pool.tokens);
    return sendToken(
      token.address,
      random.pick(world.merchants),
      BigInt(random.int(1, 30)) * token.perDollar,
    );
  }
  if (kind < 0.9) return performTask(random.pick(world.keeperTargets), random.int(0, 4));
  const feed = random.pick(world.feeds);
  return reportPrice(feed.address, (feed.answer * BigInt(random.int(970, 1030))) / 1000n);
}
