import type { Database } from "../store/database.ts";
import { readTokensSince } from "../store/role-calls.ts";

export type TokenBudget = {
  /** Tokens left until the end of the UTC day; below zero where runs that were under way took more. */
  readonly left: () => Promise<number>;
};

export type BudgetDeps = {
  readonly db: Database;
  readonly now: () => Date;
  /** Tokens that all runs of all workers may use per UTC day. */
  readonly tokensPerDay: number;
};

/** What is left of the tokens of the day, as the kept answers have used them. */
export function createTokenBudget({ db, now, tokensPerDay }: BudgetDeps): TokenBudget {
  return { left: async () => tokensPerDay - (await readTokensSince(db, startOfDay(now()))) };
}

const DAY_MS = 86_400_000;

/** The start of the UTC day after this moment, when there is a budget again. */
export function nextDay(moment: Date): Date {
  return new Date(startOfDay(moment).getTime() + DAY_MS);
}

function startOfDay(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / DAY_MS) * DAY_MS);
}
