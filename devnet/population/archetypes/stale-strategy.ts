import { type AgentContext, type Archetype, own } from "../agent.ts";
import { runOnDemand } from "../deeds.ts";
import type { PlannedCall } from "../plan-types.ts";
import { ALL_HOURS, atRandom } from "../rhythm.ts";
import { trade } from "./diverse-trader.ts";
import { joinsAtTheStart } from "./joining.ts";

/** One of its strategies broke long ago and runs on all the same, failing every time, while it trades well besides. */
export const staleStrategy: Archetype = {
  name: "stale-strategy",
  share: 5,
  purse: { pools: [1, 3] },
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const brokenFrom = span.start + (span.end - span.start) * random.between(0.1, 0.3);
    const trades = atRandom(random, span, { perDay: random.between(0.9, 1.4), hours: ALL_HOURS });
    const runs = atRandom(random, span, { perDay: random.between(1, 1.6), hours: ALL_HOURS });
    return [
      ...trades.flatMap((at) => trade(context, at)),
      ...runs.map((at) => run(context, at, at < brokenFrom)),
    ];
  },
  step: (context, at) =>
    context.random.fork(`choice/${at}`).chance(0.5) ? [run(context, at, false)] : trade(context, at),
};

/** Its strategy, always the same call. */
function run(context: AgentContext, at: number, works: boolean): PlannedCall {
  const way = context.random.fork("way").pick([1, 2, 3, 4] as const);
  const target = context.world.contracts.revertOnDemand;
  return own(context, at, runOnDemand(target, way)(works ? "success" : "revert"));
}
