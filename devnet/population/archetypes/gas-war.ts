import { type AgentContext, type Archetype, attempt, withHabits } from "../agent.ts";
import type { PlannedCall } from "../plan-types.ts";
import { ALL_HOURS, atRandom } from "../rhythm.ts";
import { dealing } from "./diverse-trader.ts";
import { joinsAtTheStart } from "./joining.ts";

const RELIABILITY = { failureRate: 0.27, retryMinutes: [1, 8] } as const;
const GWEI = 1_000_000_000;

/** Bids several times the market's price to be first, and loses many of its races, gas and all. */
export const gasWar: Archetype = {
  name: "gas-war",
  share: 5,
  purse: { pools: [1, 3] },
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = { perDay: random.between(1.2, 2), hours: ALL_HOURS };
    return atRandom(random, span, rate).flatMap((at) => race(context, at));
  },
  step: race,
};

function race(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  const tipWei = BigInt(Math.round(random.between(2, 4.5) * GWEI));
  const bidder = withHabits(context, { tipWei, clumsiness: 1 });
  return attempt(bidder, random, { at, deed: dealing(context, random), reliability: RELIABILITY });
}
