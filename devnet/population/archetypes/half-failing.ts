import { type AgentContext, type Archetype, own, wayToFail } from "../agent.ts";
import type { PlannedCall } from "../plan-types.ts";
import { atRandom, wakingHours } from "../rhythm.ts";
import { dealing } from "./diverse-trader.ts";
import { joinsAtTheStart } from "./joining.ts";

/** Half of what it tries fails, and it never tries anything a second time. */
export const halfFailing: Archetype = {
  name: "half-failing",
  share: 5,
  purse: { pools: [1, 3] },
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = { perDay: random.between(1.3, 2.2), hours: wakingHours(random.int(0, 23), 16) };
    return atRandom(random, span, rate).flatMap((at) => tryOnce(context, at));
  },
  step: tryOnce,
};

function tryOnce(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  const outcome = random.chance(0.5) ? wayToFail(random) : "success";
  return [own(context, at, dealing(context, random)(outcome))];
}
