import { type Archetype, habitsOf, planned } from "../agent.ts";
import { listAsSanctioned } from "../deeds.ts";
import { atRandom, wakingHours } from "../rhythm.ts";
import { joinsAtTheStart } from "./joining.ts";
import { pay } from "./payment-agent.ts";

/** Pays like any payment agent, and was put on the sanctions list some time ago. */
export const sanctioned: Archetype = {
  name: "sanctioned",
  share: 7,
  purse: "usdc",
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = { perDay: random.between(1.2, 1.8), hours: wakingHours(7, 14) };
    const listedAt = span.start + (span.end - span.start) * random.between(0.6, 0.98);
    const officer = { address: context.world.sanctionsOwner, habits: habitsOf(random.fork("officer")) };
    const listing = listAsSanctioned(context.world.contracts.sanctionsList, context.wallet.address);
    return [
      ...atRandom(random, span, rate).flatMap((at) => pay(context, at)),
      planned(officer, listedAt, listing),
    ];
  },
  step: pay,
};
