import { getContractAddress } from "viem";
import { poolCreationCode } from "../../contract-list.ts";
import { type AgentContext, type Archetype, habitsOf, own, planned } from "../agent.ts";
import { createContract, mixCoin } from "../deeds.ts";
import type { PlannedCall } from "../plan-types.ts";
import type { Random } from "../random.ts";
import { atIntervals, atRandom, DAY, HOUR, type Span, wakingHours } from "../rhythm.ts";
import { approveForever, approveToken, sendCoin, swap } from "../token-deeds.ts";
import { walletOf } from "../wallets.ts";
import { trade } from "./diverse-trader.ts";
import { joinsAtTheStart } from "./joining.ts";

const JUNK_SHARE = 0.14;
const ALLOWED_TO_JUNK_POOL = 10_000n;

/** Works well, but approves any spender that asks, buys tokens that nothing prices, and sends some of its coin through a mixer. */
export const dirtyHygiene: Archetype = {
  name: "dirty-hygiene",
  share: 5,
  purse: { pools: [2, 3] },
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = { perDay: random.between(1.5, 2.3), hours: wakingHours(random.int(0, 23), 15) };
    const mixing = atIntervals(random, span, { interval: random.between(12, 20) * DAY, jitter: 0.3 });
    return [
      ...allowJunkPools(context, span.start),
      ...atRandom(random, { start: span.start + HOUR, end: span.end }, rate).flatMap((at) =>
        step(context, at),
      ),
      ...mixing.map((at) => mix(context, at)),
      ...trustStrangers(context, random, span),
    ];
  },
  step,
};

function step(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`choice/${at}`);
  return random.chance(JUNK_SHARE) ? [buyJunk(context, random, at)] : trade(context, at);
}

function allowJunkPools(context: AgentContext, from: number): PlannedCall[] {
  const { usdc, junkPools } = context.world;
  const amount = ALLOWED_TO_JUNK_POOL * usdc.perDollar;
  return junkPools.map((pool, i) =>
    own(context, from + i * 120, approveToken(usdc.address, pool.address, amount)),
  );
}

function buyJunk(context: AgentContext, random: Random, at: number): PlannedCall {
  const { wallet, world } = context;
  const purchase = { dollars: BigInt(random.int(20, 160)), sellFirst: true };
  return own(context, at, swap(random.pick(world.junkPools), wallet.address, purchase)("success"));
}

function mix(context: AgentContext, at: number): PlannedCall {
  const note = `${context.label}@${at}`;
  return own(context, at, mixCoin(context.world.contracts.mixer, note, 15n * 10n ** 16n));
}

/** Now and then a stranger creates a contract, and before long the agent approves it for all of a token. */
function trustStrangers(context: AgentContext, random: Random, span: Span): PlannedCall[] {
  const { world, label } = context;
  const tokens = [world.usdc, world.weth, world.dai].map((token) => token.address);
  return [0.15, 0.35, 0.55, 0.75, 0.9].flatMap((part, i) => {
    const at = Math.floor(span.start + part * (span.end - span.start));
    const stranger = {
      address: walletOf(world.seed, `${label}/stranger/${i}`).address,
      habits: habitsOf(random),
    };
    const exchange = { address: random.pick(world.exchanges).address, habits: habitsOf(random) };
    const contract = getContractAddress({ from: stranger.address, nonce: 0n });
    const code = poolCreationCode([world.usdc.address, random.pick(world.junkPools).address]);
    return [
      planned(exchange, at, sendCoin(stranger.address, 5n * 10n ** 16n)),
      planned(stranger, at + HOUR, createContract(code)),
      own(
        context,
        at + HOUR + random.between(0.02, 0.06) * DAY,
        approveForever(random.pick(tokens), contract),
      ),
    ];
  });
}
