import type { Archetype } from "../agent.ts";
import { atRandom, DAY, wakingHours } from "../rhythm.ts";
import { joinsAtTheStart } from "./joining.ts";
import { pay } from "./payment-agent.ts";

/** Paid now and then in its first days and has been silent ever since. */
export const dormant: Archetype = {
  name: "dormant",
  share: 10,
  purse: "usdc",
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const awake = Math.min(random.between(7, 14) * DAY, (span.end - span.start) / 6);
    const rate = { perDay: random.between(0.8, 1.4), hours: wakingHours(8, 14) };
    const times = atRandom(random, { start: span.start, end: span.start + awake }, rate);
    return times.flatMap((at) => pay(context, at).slice(-1));
  },
  step: null,
};
