import { type AgentContext, type Archetype, attempt, own } from "../agent.ts";
import { sendCoin, sendToken } from "../deeds.ts";
import type { PlannedCall } from "../plan-types.ts";
import { atRandom, MINUTE, wakingHours } from "../rhythm.ts";
import { joinsAtTheStart } from "./joining.ts";

const RELIABILITY = { failureRate: 0.01, retryMinutes: [4, 20] } as const;

/** Pays the same few merchants, mostly in USDC, in small bursts. */
export const paymentAgent: Archetype = {
  name: "payment-agent",
  share: 24,
  purse: "usdc",
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = {
      perDay: random.between(1.1, 1.8),
      hours: wakingHours(random.int(4, 14), random.int(10, 16)),
    };
    return atRandom(random, span, rate).flatMap((at) => pay(context, at));
  },
  step: pay,
};

/** One to three payments to the wallet's own merchants. */
export function pay(context: AgentContext, at: number): PlannedCall[] {
  const regulars = context.random.fork("merchants");
  const merchants = regulars.sample(context.world.merchants, regulars.int(4, 10));
  const coinShare = regulars.between(0.25, 0.5);
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
