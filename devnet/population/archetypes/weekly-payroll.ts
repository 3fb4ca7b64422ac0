import { type Archetype, attempt, own } from "../agent.ts";
import { HOUR, MINUTE, onceAWeek } from "../rhythm.ts";
import { sendCoin, sendToken } from "../token-deeds.ts";
import { joinsAtTheStart } from "./joining.ts";

const RELIABILITY = { failureRate: 0.008, retryMinutes: [5, 15] } as const;

/** Pays the same people once a week, one after the other, and does nothing in between. */
export const weeklyPayroll: Archetype = {
  name: "weekly-payroll",
  share: 11,
  purse: "usdc",
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const payees = random.sample(context.world.merchants, random.int(7, 10));
    const slot = {
      weekday: random.int(0, 4),
      second: random.int(6, 17) * HOUR,
      late: random.int(10, 50) * MINUTE,
    };
    const salary = BigInt(random.int(8, 40)) * 1_000_000n;
    return onceAWeek(random, span, slot).flatMap((payday) =>
      payees.flatMap((payee, i) => {
        const at = payday + i * random.int(40, 160);
        // Some are paid in native coin.
        if (i % 3 === 2) return [own(context, at, sendCoin(payee, salary * 5n * 10n ** 7n))];
        const deed = sendToken(context.world.usdc.address, payee, salary);
        return attempt(context, random, { at, deed, reliability: RELIABILITY });
      }),
    );
  },
  // Its week is its rhythm: a step in between would not be its own.
  step: null,
};
