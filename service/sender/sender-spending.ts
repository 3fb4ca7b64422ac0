import { and, eq, gte, inArray, isNotNull, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { senderTransaction } from "../db/tables/publish.ts";

const DAY_MS = 86_400_000;

/** Gas that transactions of these purposes took of the UTC day: used where they are mined, their limit where they are under way. */
export async function readGasSpent(
  db: NodePgDatabase,
  of: { readonly chainId: number; readonly purposes: readonly string[]; readonly now: Date },
): Promise<bigint> {
  const { chainId, purposes, now } = of;
  const midnight = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const [spent] = await db
    .select({
      gas: sql<string>`coalesce(sum(coalesce(${senderTransaction.gasUsed}, ${senderTransaction.gasLimit})), 0)`,
    })
    .from(senderTransaction)
    .where(
      and(
        eq(senderTransaction.chainId, chainId),
        inArray(senderTransaction.purpose, [...purposes]),
        // What was queued the day before may be sent today.
        gte(senderTransaction.createdAt, new Date(midnight - DAY_MS)),
        isNotNull(senderTransaction.gasLimit),
        gte(
          sql`coalesce(${senderTransaction.broadcastAt}, ${senderTransaction.updatedAt})`,
          new Date(midnight),
        ),
      ),
    );
  return BigInt(spent?.gas ?? 0);
}
