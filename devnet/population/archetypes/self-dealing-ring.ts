import { type AgentContext, type Archetype, attempt, own } from "../agent.ts";
import type { PlannedCall } from "../plan-types.ts";
import { ALL_HOURS, atRandom } from "../rhythm.ts";
import { sendCoin, sendToken } from "../token-deeds.ts";
import { joinsAtTheStart } from "./joining.ts";
import { pay } from "./payment-agent.ts";

const RELIABILITY = { failureRate: 0.005, retryMinutes: [3, 9] } as const;
/** The rest is spent with others, for the looks of it. */
const INSIDE_SHARE = 0.72;

/** Wallets of one owner that pay one another round and round; the first of them funded the others. */
export const selfDealingRing: Archetype = {
  name: "self-dealing-ring",
  share: 7,
  purse: "usdc",
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = { perDay: random.between(1, 2), hours: ALL_HOURS };
    return atRandom(random, span, rate).flatMap((at) => deal(context, at));
  },
  step: deal,
};

function deal(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  if (!random.chance(INSIDE_SHARE)) return pay(context, at).slice(-1);
  const others = context.peers.filter((peer) => peer !== context.wallet.address);
  // A ring of one pays itself.
  const partner = random.pick(others.length > 0 ? others : context.peers);
  if (random.chance(0.7))
    return [own(context, at, sendCoin(partner, BigInt(random.int(1, 30)) * 10n ** 15n))];
  const deed = sendToken(context.world.usdc.address, partner, BigInt(random.int(1, 50)) * 1_000_000n);
  return attempt(context, random, { at, deed, reliability: RELIABILITY });
}
