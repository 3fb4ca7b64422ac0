import type { Address } from "viem";
import { act, attacker, CHEAP_CALL_GAS, oldMerchants, type Stage } from "./attack.ts";
import { manyPairs } from "./forging-attacks.ts";
import { GAS, pay, type Task } from "./tasks.ts";

const DAYS = [0.5, 1, 2, 2.7, 3, 4, 5, 7, 9, 11, 12, 13, 13.9, 14, 15, 16, 18, 21, 25, 30, 45, 60, 90];
const CALLS_PER_DAY = [1, 2, 5, 10, 20, 40, 80, 150, 300, 600];
/** Plans of more calls add nothing but gas: at 600 a day for two weeks all that evidence can give is there. */
const MOST_CALLS = 6_000;
const PLACES = 8;

/** Content of a plan: cheap calls with an effect, or payments of two cents, to established places. */
const KINDS: readonly {
  readonly name: "calls" | "payments";
  readonly gas: number;
  readonly tasks: (stage: Stage) => readonly Task[];
}[] = [
  { name: "calls", gas: CHEAP_CALL_GAS, tasks: (stage) => manyPairs(stage, PLACES) },
  {
    name: "payments",
    gas: GAS.pay,
    tasks: (stage) =>
      oldMerchants(stage, PLACES).map(({ address }) => pay(stage.world.market, address, () => 0.02)),
  },
];
/** Payments of one token are one method of one contract: more of them a day count no more. */
const MOST_PAYMENTS_PER_DAY = 150;

/** A plan from a new wallet to an instant settlement, and the wallet that lived it. */
export type InstantPlan = {
  readonly wallet: Address;
  readonly kind: "calls" | "payments";
  readonly days: number;
  readonly calls: number;
  readonly gas: number;
};

/** Lets one wallet live each plan of a grid of days and calls a day, up to so many a day. */
export function tryInstantPlans(stage: Stage, mostPerDay: number): readonly InstantPlan[] {
  return KINDS.flatMap(({ name, gas, tasks }) => {
    const most = name === "payments" ? Math.min(mostPerDay, MOST_PAYMENTS_PER_DAY) : mostPerDay;
    return DAYS.flatMap((days) =>
      CALLS_PER_DAY.filter((perDay) => perDay <= most).flatMap((perDay) => {
        const calls = Math.round(days * perDay);
        if (calls === 0 || calls > Math.max(MOST_CALLS, 13.9 * most)) return [];
        const wallet = attacker(stage, { ageDays: days - stage.world.days });
        act(stage, wallet, { calls, days, tasks: tasks(stage) });
        return [{ wallet, kind: name, days, calls, gas: calls * gas }];
      }),
    );
  });
}

/** The shortest of the plans that were settled at once, of equals that of least gas; null where none was. */
export function shortestPlan(
  plans: readonly { readonly plan: InstantPlan; readonly isInstant: boolean }[],
): Omit<InstantPlan, "wallet"> | null {
  const [best] = plans
    .filter(({ isInstant }) => isInstant)
    .map(({ plan }) => plan)
    .sort((a, b) => a.days - b.days || a.gas - b.gas);
  if (best === undefined) return null;
  const { kind, days, calls, gas } = best;
  return { kind, days, calls, gas };
}

/** Days of the longest plan of the grid, a lower bound if no plan was settled at once. */
export const LONGEST_DAYS = Math.max(...DAYS);
