import { type AgentContext, type Archetype, attempt, favourites } from "../agent.ts";
import { performTask } from "../deeds.ts";
import type { PlannedCall } from "../plan-types.ts";
import { atIntervals, HOUR } from "../rhythm.ts";
import { joinsAtTheStart } from "./joining.ts";

const RELIABILITY = { failureRate: 0.006, retryMinutes: [3, 9] } as const;

/** Keeps a few contracts up at its own steady beat. */
export const keeper: Archetype = {
  name: "keeper",
  share: 17,
  purse: "coin",
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const beat = { interval: random.between(9, 13) * HOUR, jitter: random.between(0.03, 0.2) };
    return atIntervals(random, span, beat).flatMap((at) => keepUp(context, at));
  },
  step: keepUp,
};

function keepUp(context: AgentContext, at: number): PlannedCall[] {
  const targets = favourites(context, "kept", { among: context.world.keeperTargets, count: [2, 3] });
  const random = context.random.fork(`at/${at}`);
  return random.sample(targets, random.chance(0.25) ? 2 : 1).flatMap((target, i) => {
    const deed = performTask(target, context.index % 5);
    return attempt(context, random, { at: at + 20 * i, deed, reliability: RELIABILITY });
  });
}
