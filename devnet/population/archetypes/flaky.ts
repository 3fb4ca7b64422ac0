import { type AgentContext, type Archetype, own } from "../agent.ts";
import type { PlannedCall } from "../plan-types.ts";
import { atRandom, MINUTE, wakingHours } from "../rhythm.ts";
import { dealing } from "./diverse-trader.ts";
import { joinsAtTheStart } from "./joining.ts";

const FAILURE_RATE = 0.2;
const MOST_FAILURES_IN_A_ROW = 3;

/** Trades like others, but every fifth call is turned down, and it tries again before long. */
export const flaky: Archetype = {
  name: "flaky",
  share: 6,
  purse: { pools: [1, 3] },
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = { perDay: random.between(1.3, 2.1), hours: wakingHours(random.int(0, 23), 16) };
    return atRandom(random, span, rate).flatMap((at) => stumble(context, at));
  },
  step: stumble,
};

function stumble(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  const deed = dealing(context, random);
  const calls: PlannedCall[] = [];
  let when = at;
  while (calls.length < MOST_FAILURES_IN_A_ROW && random.chance(FAILURE_RATE)) {
    calls.push(own(context, when, deed("revert")));
    when += random.between(6, 40) * MINUTE;
  }
  return [...calls, own(context, when, deed("success"))];
}
