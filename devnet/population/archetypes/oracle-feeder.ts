import { type AgentContext, type Archetype, attempt, favourites } from "../agent.ts";
import { reportPrice } from "../deeds.ts";
import type { PlannedCall } from "../plan-types.ts";
import { atIntervals, HOUR } from "../rhythm.ts";
import { joinsAtTheStart } from "./joining.ts";

const RELIABILITY = { failureRate: 0.006, retryMinutes: [1, 4] } as const;

/** Reports prices to its feeds at a heartbeat, day and night. */
export const oracleFeeder: Archetype = {
  name: "oracle-feeder",
  share: 11,
  purse: "coin",
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const beat = { interval: random.between(12, 16) * HOUR, jitter: random.between(0.01, 0.06) };
    return atIntervals(random, span, beat).flatMap((at) => report(context, at));
  },
  step: report,
};

function report(context: AgentContext, at: number): PlannedCall[] {
  const feeds = favourites(context, "feeds", { among: context.world.feeds, count: [2, 4] });
  const random = context.random.fork(`at/${at}`);
  return random.sample(feeds, random.int(1, 2)).flatMap((feed, i) => {
    const deed = reportPrice(feed.address, (feed.answer * BigInt(random.int(9_500, 10_500))) / 10_000n);
    return attempt(context, random, { at: at + 15 * i, deed, reliability: RELIABILITY });
  });
}
