import { eq } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { appeal } from "../../db/tables/appeal.ts";
import type { AppealTerm, AppealTimes } from "./decide-appeal.ts";

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
  { at, ...window }: AppealTimes & { verdictId: string; chainId: number; run: number; at: Date },
): Promise<void> {
  await tx
    .insert(appeal)
    .values({ ...window, state: "window", createdAt: at, updatedAt: at })
    .onConflictDoNothing();
}
