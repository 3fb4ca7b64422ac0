import type { Address } from "viem";
import { act, attacker, CHEAP_CALL_GAS, type Stage } from "./attack.ts";
import { manyPairs } from "./forging-attacks.ts";

const DAYS = [0.5, 1, 2, 2.7, 3, 4, 5, 7, 9, 11, 12, 13, 13.9, 14, 15, 16, 18, 21, 25, 30, 45, 60, 90];
const CALLS_PER_DAY = [1, 2, 5, 10, 20, 40, 80, 150, 300, 600];
/** Plans of more calls add nothing but gas: at 600 a day for two weeks all that evidence can give is there. */
const MOST_CALLS = 6_000;
const VENUES = 8;

/** A plan from a new wallet to an instant settlement, and the wallet that lived it. */
export type InstantPlan = {
  readonly wallet: Address;
  readonly days: number;
  readonly calls: number;
  readonly gas: number;
};

/** Lets one wallet live each plan of a grid of days and calls a day, up to so many a day. */
export function tryInstantPlans(stage: Stage, mostPerDay: number): readonly InstantPlan[] {
  return DAYS.flatMap((days) =>
    CALLS_PER_DAY.filter((perDay) => perDay <= mostPerDay).flatMap((perDay) => {
      const calls = Math.round(days * perDay);
      if (calls === 0 || calls > Math.max(MOST_CALLS, 13.9 * mostPerDay)) return [];
      const wallet = attacker(stage, { ageDays: days - stage.world.days });
      act(stage, wallet, { calls, days, tasks: manyPairs(stage, VENUES) });
      return [{ wallet, days, calls, gas: calls * CHEAP_CALL_GAS }];
    }),
  );
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
  const { days, calls, gas } = best;
  return { days, calls, gas };
}

/** Days of the longest plan of the grid: what a shortest plan is longer than if there is none. */
export const LONGEST_DAYS = Math.max(...DAYS);
