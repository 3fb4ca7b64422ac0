import { and, eq, type SQL } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { verdict } from "../../db/tables/verdict.ts";

/** Locks a verdict that meets the conditions until the database transaction ends; false without one. */
export async function lockVerdict(
  tx: NodePgDatabase,
  id: string,
  ...conditions: readonly (SQL | undefined)[]
): Promise<boolean> {
  const rows = await tx
    .select({ id: verdict.id })
    .from(verdict)
    .where(and(eq(verdict.id, id), ...conditions))
    .for("update");
  return rows.length === 1;
}
