import type { Address } from "viem";
import { type AgentContext, type Archetype, attempt, favourites, own } from "../agent.ts";
import type { Deed, DeedOf } from "../deed.ts";
import { performTask, reportPrice } from "../deeds.ts";
import type { PlannedCall } from "../plan-types.ts";
import type { Random } from "../random.ts";
import { atRandom, DAY, type Span, wakingHours } from "../rhythm.ts";
import { approveForever, sendCoin, sendToken, swap, unwrapCoin, wrapCoin } from "../token-deeds.ts";
import { joinsAtTheStart } from "./joining.ts";

const RELIABILITY = { failureRate: 0.012, retryMinutes: [2, 12] } as const;
/** A contract of this age, which many use, is trusted with an approval without limit. */
const PROVEN_AFTER = 40 * DAY;

/** Trades on most pools and deals with many others, in its waking hours. */
export const diverseTrader: Archetype = {
  name: "diverse-trader",
  share: 19,
  purse: { pools: [2, 3] },
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = {
      perDay: random.between(2, 2.8),
      hours: wakingHours(random.int(0, 23), random.int(12, 18)),
    };
    return [
      ...atRandom(random, span, rate).flatMap((at) => trade(context, at)),
      ...trustProvenPools(context, span),
    ];
  },
  step: trade,
};

/** One trade, or another act of an account with many dealings. */
export function trade(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  if (random.chance(0.12)) {
    const merchant = random.pick(merchantsOf(context));
    return [own(context, at, sendCoin(merchant, BigInt(random.int(2, 40)) * 10n ** 15n))];
  }
  if (holdsWrappedCoin(context) && random.chance(0.03))
    return [own(context, at, changeWrapping(context, random))];
  const deed = dealing(context, random);
  return attempt(context, random, { at, deed, reliability: RELIABILITY });
}

/** One of a trader's contract calls, with the tokens of its own pools. */
export function dealing(context: AgentContext, random: Random): DeedOf {
  const { world, wallet, pools } = context;
  const kind = random.next();
  const pool = random.pick(pools);
  if (kind < 0.6) {
    const dollars = BigInt(random.int(15, 220));
    return swap(pool, wallet.address, { dollars, sellFirst: random.chance(0.5) });
  }
  if (kind < 0.8) {
    const token = random.pick(pool.tokens);
    const amount = BigInt(random.int(1, 30)) * token.perDollar;
    return sendToken(token.address, random.pick(merchantsOf(context)), amount);
  }
  if (kind < 0.9) {
    const targets = favourites(context, "targets", { among: world.keeperTargets, count: [2, 3] });
    return performTask(random.pick(targets), random.int(0, 4));
  }
  const feed = random.pick(favourites(context, "feeds", { among: world.feeds, count: [2, 4] }));
  return reportPrice(feed.address, (feed.answer * BigInt(random.int(970, 1030))) / 1000n);
}

/** Places where a trader spends: no trader deals with all of them. */
function merchantsOf(context: AgentContext): readonly Address[] {
  return favourites(context, "merchants", { among: context.world.merchants, count: [5, 11] });
}

function holdsWrappedCoin({ pools, world }: AgentContext): boolean {
  return pools.some((pool) => pool.tokens.includes(world.weth));
}

function changeWrapping({ world }: AgentContext, random: Random): Deed {
  const amount = BigInt(random.int(4, 30)) * 10n ** 15n;
  const { address } = world.weth;
  return random.chance(0.5) ? wrapCoin(address, amount) : unwrapCoin(address, amount)("success");
}

/** Every fourth lifts the limit of what the pools may take, late, once they are old and well used. */
function trustProvenPools(context: AgentContext, span: Span): PlannedCall[] {
  const random = context.random.fork("trust");
  const at = span.start + PROVEN_AFTER + random.between(0, 20 * DAY);
  if (context.index % 4 !== 1 || at > span.end) return [];
  const [pool] = context.pools;
  if (!pool) return [];
  return pool.tokens.map((token, i) =>
    own(context, at + i * 90, approveForever(token.address, pool.address)),
  );
}
