import type { Address } from "viem";
import type { ConfidenceLevel, Grade, ScoreRecord } from "../service/model/score/record.ts";
import { ANY_METHOD, act, attacker, CHEAP_CALL_GAS, oldVenues, type Stage } from "./attack.ts";
import { work } from "./tasks.ts";

const DAYS = [7, 14, 30, 45, 60, 75, 90];
const CALLS_PER_DAY = [0.5, 1, 2, 5, 10];
const PLACES = [1, 2, 4, 8];
const LEVELS: readonly ConfidenceLevel[] = ["LOW", "MEDIUM", "HIGH"];
const GRADES: readonly Grade[] = ["A", "B", "C", "D"];

/** A plan of clean, cheap calls with an effect, to established contracts, and the wallet that lived it. */
export type Purchase = {
  readonly wallet: Address;
  readonly days: number;
  readonly places: number;
  readonly calls: number;
  readonly gas: number;
};

/** The cheapest plan seen that reached a grade with a confidence or better. */
export type Price = Omit<Purchase, "wallet"> & {
  readonly grade: Grade;
  readonly confidence: ConfidenceLevel;
};

/** Lets one wallet live each plan of a grid. */
export function buyGrades(stage: Stage): readonly Purchase[] {
  return DAYS.flatMap((days) =>
    CALLS_PER_DAY.flatMap((perDay) =>
      PLACES.map((places) => {
        const wallet = attacker(stage);
        const calls = Math.round(days * perDay);
        const tasks = oldVenues(stage, places).map((venue) => work(venue, ANY_METHOD, CHEAP_CALL_GAS));
        act(stage, wallet, { calls, days, tasks });
        return { wallet, days, places, calls, gas: calls * CHEAP_CALL_GAS };
      }),
    ),
  );
}

/** For each grade and confidence the plan of least gas that reached both or better; pairs that none reached are left out. */
export function cheapestPlans(
  bought: readonly { readonly purchase: Purchase; readonly record: ScoreRecord }[],
): readonly Price[] {
  return GRADES.flatMap((grade) =>
    LEVELS.flatMap((confidence) => {
      const enough = bought.filter(
        ({ record: { outcome, confidenceLevel } }) =>
          outcome.kind === "scored" &&
          outcome.grade <= grade &&
          LEVELS.indexOf(confidenceLevel) >= LEVELS.indexOf(confidence),
      );
      const [best] = enough.map(({ purchase }) => purchase).sort((a, b) => a.gas - b.gas || a.days - b.days);
      if (best === undefined) return [];
      const { days, places, calls, gas } = best;
      return [{ grade, confidence, days, places, calls, gas }];
    }),
  );
}
