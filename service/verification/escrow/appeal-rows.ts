import { and, count, eq, gte, or } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Database, underDeadline } from "../../db/database.ts";
import { type AppealState, appeal } from "../../db/tables/appeal.ts";
import type { AppealTerm, AppealTerms } from "./decide-appeal.ts";

/** Reads the time to appeal of a verdict, with the state of its appeal; null if none was opened. */
export async function readAppealTerm(db: NodePgDatabase, verdictId: string): Promise<AppealTerm | null> {
  const { run, state, appealBy, decideBy } = appeal;
  const [row] = await db
    .select({ run, state, appealBy, decideBy })
    .from(appeal)
    .where(eq(appeal.verdictId, verdictId));
  return row ?? null;
}

/** Opens the time to appeal a decision, in the database transaction that locks its verdict; one that was opened before stays as it is. */
export async function openWindow(
  tx: NodePgDatabase,
  { at, ...window }: AppealTerms & { verdictId: string; chainId: number; run: number; at: Date },
): Promise<void> {
  await tx
    .insert(appeal)
    .values({ ...window, state: "window", createdAt: at, updatedAt: at })
    .onConflictDoNothing();
}

/** Appeals by their state: open ones, and those that ended in the last days. */
export type AppealFigures = Readonly<Record<"open" | "upheld" | "overturned" | "held" | "failed", number>>;

/** Days that the figures are about. */
export const FIGURE_DAYS = 90;

export async function readAppealFigures(
  db: Database,
  { chainId, now }: { chainId: number; now: Date },
): Promise<AppealFigures> {
  const since = new Date(now.getTime() - FIGURE_DAYS * 86_400_000);
  const rows = await underDeadline(db)
    .select({ state: appeal.state, count: count() })
    .from(appeal)
    .where(and(eq(appeal.chainId, chainId), or(gte(appeal.endedAt, since), eq(appeal.state, "open"))))
    .groupBy(appeal.state);
  const countOf = (wanted: AppealState) => rows.find(({ state }) => state === wanted)?.count ?? 0;
  return {
    open: countOf("open"),
    upheld: countOf("upheld"),
    overturned: countOf("overturned"),
    held: countOf("held"),
    failed: countOf("failed"),
  };
}
