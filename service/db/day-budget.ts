import { type SQL, sql } from "drizzle-orm";

const DAY_MS = 86_400_000;

/** Midnight in UTC, at which the budgets of a day begin anew. */
export function startOfDay(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / DAY_MS) * DAY_MS);
}

export function nextDay(moment: Date): Date {
  return new Date(startOfDay(moment).getTime() + DAY_MS);
}

/** Whole seconds until the next budget. */
export function secondsLeftOfDay(moment: Date): number {
  return Math.ceil((nextDay(moment).getTime() - moment.getTime()) / 1_000);
}

/** Use of a budget that strangers share, as one class of work sees it. */
export type BudgetUse = {
  /** Up to where this class may fill the budget. The rest is reserved for classes with a higher ceiling. */
  readonly ceiling: number;
  /** Of all owners and classes, what was granted and not used yet included. */
  readonly used: number;
  /** Of that, the asking owner's. */
  readonly own: number;
};

/**
 * Whether a budget has room for more of an owner. An owner never has more than it leaves to the others: alone it takes at most half, and a
 * newcomer always finds room.
 */
export function hasRoom({ ceiling, used, own }: BudgetUse, needed = 1): boolean {
  return used + needed <= ceiling && !isOverShare({ ceiling, used, own });
}

/** Whether an owner has as much as it leaves to the others. */
export function isOverShare({ ceiling, used, own }: BudgetUse): boolean {
  return own > 0 && own >= ceiling - used;
}

/** The turn of a waiting row: what its owner has had, and its place among the owner's rows. Rows by rising turn serve owners alike. */
export function turnOf(owner: SQL, order: SQL, had: SQL = sql`0`): SQL<number> {
  return sql<number>`(${had} + row_number() over (partition by ${owner} order by ${order}))`;
}
