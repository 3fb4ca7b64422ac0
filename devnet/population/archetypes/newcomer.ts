import type { Archetype } from "../agent.ts";
import { DAY, HOUR } from "../rhythm.ts";
import { trade } from "./diverse-trader.ts";

/** Joined in the last days and has made a handful of calls, too few to say anything. */
export const newcomer: Archetype = {
  name: "newcomer",
  share: 10,
  purse: { pools: [1, 1] },
  joinsAt: (random, history) => Math.floor(history.end - random.between(0.4, 5) * DAY),
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const times = Array.from({ length: random.int(0, 3) }, () =>
      random.between(span.start, span.end - HOUR / 2),
    );
    return times.flatMap((at) => trade(context, Math.floor(at)).slice(-1));
  },
  // More calls would make it a trader.
  step: null,
};
