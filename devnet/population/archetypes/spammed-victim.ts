import { type Archetype, habitsOf, planned } from "../agent.ts";
import { ALL_HOURS, atRandom, wakingHours } from "../rhythm.ts";
import { airdropSpam, sendCoin } from "../token-deeds.ts";
import { trade } from "./diverse-trader.ts";
import { joinsAtTheStart } from "./joining.ts";

/** Works well, while a stranger keeps dropping worthless tokens and dust on it. */
export const spammedVictim: Archetype = {
  name: "spammed-victim",
  share: 12,
  purse: { pools: [1, 3] },
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = { perDay: random.between(1.8, 2.5), hours: wakingHours(random.int(0, 23), 16) };
    const spammer = { address: context.world.spammer.address, habits: habitsOf(random.fork("spammer")) };
    const victim = context.wallet.address;
    const spam = atRandom(random, span, { perDay: 0.35, hours: ALL_HOURS });
    return [
      ...atRandom(random, span, rate).flatMap((at) => trade(context, at)),
      ...spam.map((at) =>
        random.chance(0.5)
          ? planned(spammer, at, airdropSpam(context.world.contracts.spamToken, [victim]))
          : planned(spammer, at, sendCoin(victim, 1n)),
      ),
    ];
  },
  step: trade,
};
