import { and, count, eq, gte, inArray, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { publishIntent, senderTransaction } from "../db/tables/publish.ts";

/** Purpose under which score batches are sent, and their gas is counted. */
export const PUBLISH_PURPOSE = "publish";

export type GasToday = {
  /** Gas of the day's transactions: used where mined, the limit where under way. */
  readonly gas: bigint;
  /** Scores in transactions that have no gas limit yet. */
  readonly queuedScores: number;
  /** Such transactions. */
  readonly queued: number;
};

/** What publishing scores has taken of the UTC day's gas so far. */
export async function readGasToday(db: NodePgDatabase, chainId: number, now: Date): Promise<GasToday> {
  const midnight = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
  const ofPublishing = and(
    eq(senderTransaction.chainId, chainId),
    eq(senderTransaction.purpose, PUBLISH_PURPOSE),
  );
  const [spent] = await db
    .select({
      gas: sql<string>`coalesce(sum(coalesce(${senderTransaction.gasUsed}, ${senderTransaction.gasLimit})), 0)`,
    })
    .from(senderTransaction)
    .where(and(ofPublishing, gte(senderTransaction.createdAt, midnight)));
  const queued = await db
    .select({ id: senderTransaction.id, scores: count(publishIntent.id) })
    .from(senderTransaction)
    .leftJoin(publishIntent, eq(publishIntent.senderTransactionId, senderTransaction.id))
    // Nothing queued is final; said so that the index of open transactions serves.
    .where(and(ofPublishing, eq(senderTransaction.state, "queued"), eq(senderTransaction.final, false)))
    .groupBy(senderTransaction.id);
  const queuedScores = queued.reduce((sum, transaction) => sum + transaction.scores, 0);
  return { gas: BigInt(spent?.gas ?? 0), queuedScores, queued: queued.length };
}

/** Intents that wait to be sent. */
export async function countPending(db: NodePgDatabase, chainId: number): Promise<number> {
  return db.$count(
    publishIntent,
    and(eq(publishIntent.chainId, chainId), inArray(publishIntent.state, ["pending"])),
  );
}
