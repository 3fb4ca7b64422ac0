import { type AgentContext, type Archetype, attempt, favourites, own } from "../agent.ts";
import type { PlannedCall } from "../plan-types.ts";
import { atRandom, MINUTE, wakingHours } from "../rhythm.ts";
import { sendCoin, sendToken } from "../token-deeds.ts";
import { joinsAtTheStart } from "./joining.ts";

const RELIABILITY = { failureRate: 0.01, retryMinutes: [4, 20] } as const;

/** Pays the same few merchants, mostly in USDC, in small bursts. */
export const paymentAgent: Archetype = {
  name: "payment-agent",
  share: 19,
  purse: "usdc",
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = {
      perDay: random.between(1.75, 2.3),
      hours: wakingHours(random.int(4, 14), random.int(10, 16)),
    };
    return atRandom(random, span, rate).flatMap((at) => pay(context, at));
  },
  step: pay,
};

/** One to three payments to the wallet's own merchants. */
export function pay(context: AgentContext, at: number): PlannedCall[] {
  const merchants = favourites(context, "merchants", { among: context.world.merchants, count: [4, 10] });
  const coinShare = context.random.fork("means").between(0.25, 0.5);
  const random = context.random.fork(`at/${at}`);
  const payments = random.chance(0.2) ? random.int(2, 3) : 1;
  return Array.from({ length: payments }, (_, i) => at + i * random.int(1, 4) * MINUTE).flatMap((when) => {
    const merchant = random.pick(merchants);
    if (random.chance(coinShare)) {
      return [own(context, when, sendCoin(merchant, BigInt(random.int(1, 12)) * 10n ** 15n))];
    }
    const amount = BigInt(random.int(40, 2_500)) * 10_000n;
    const deed = sendToken(context.world.usdc.address, merchant, amount);
    return attempt(context, random, { at: when, deed, reliability: RELIABILITY });
  });
}
