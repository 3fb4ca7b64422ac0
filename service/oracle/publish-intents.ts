import { and, asc, count, eq, gte, inArray, isNull, lt, lte, ne, notExists, or, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { isOneOf } from "../db/columns.ts";
import { indexOf } from "../db/index-tables.ts";
import { publishIntent, senderTransaction } from "../db/tables/publish.ts";
import { currentScore, score } from "../db/tables/score.ts";
import { orderColumns } from "../sender/orders/order-kind.ts";
import { scoreColumns } from "./publish-scores.ts";

/** An intent with its score and, once it is sent, its transaction. */
export type IntentRow = Awaited<ReturnType<typeof selectIntents>>[number];

/**
 * Sent intents, and confirmed ones that a reorg can still undo and the oracle's events no longer show.
 * An intent that a newer record confirmed while its own transaction failed is left to the review.
 */
export async function readUnsettledIntents(db: NodePgDatabase, chainId: number): Promise<IntentRow[]> {
  // By the few transactions that are not final: the confirmed intents of all time are many.
  const { oracleScore } = indexOf(chainId);
  const isSent = and(eq(publishIntent.chainId, chainId), eq(publishIntent.state, "sent"));
  const sent = db.select({ id: publishIntent.id }).from(publishIntent).where(isSent);
  const shown = db
    .select({ wallet: oracleScore.wallet })
    .from(oracleScore)
    .where(and(eq(oracleScore.wallet, publishIntent.wallet), sql`${oracleScore.asOf} >= ${score.asOfBlock}`));
  const isOfTransaction = eq(publishIntent.senderTransactionId, senderTransaction.id);
  const confirmed = db
    .select({ id: publishIntent.id })
    .from(senderTransaction)
    .innerJoin(publishIntent, and(isOfTransaction, eq(publishIntent.state, "confirmed")))
    .innerJoin(score, eq(score.id, publishIntent.scoreId))
    .where(
      and(
        eq(senderTransaction.chainId, chainId),
        eq(senderTransaction.final, false),
        ne(senderTransaction.state, "failed"),
        notExists(shown),
      ),
    );
  return selectIntents(db).where(inArray(publishIntent.id, sent.unionAll(confirmed)));
}

/**
 * Pending intents that are due, flags first, then the oldest, locked until the transaction ends; those that a scorer is
 * just taking back are passed over.
 */
export async function readPendingIntents(
  tx: NodePgDatabase,
  chainId: number,
  due: { readonly now: Date; readonly limit: number },
): Promise<IntentRow[]> {
  const order = [sql`${publishIntent.reason} <> 'flag'`, asc(publishIntent.id)];
  const locked = await tx
    .select({ id: publishIntent.id })
    .from(publishIntent)
    .where(
      and(
        eq(publishIntent.chainId, chainId),
        eq(publishIntent.state, "pending"),
        or(isNull(publishIntent.notBefore), lte(publishIntent.notBefore, due.now)),
      ),
    )
    .orderBy(...order)
    .limit(due.limit)
    .for("update", { skipLocked: true });
  const ids = locked.map((row) => row.id);
  return selectIntents(tx)
    .where(isOneOf(publishIntent.id, ids))
    .orderBy(...order);
}

/** The newest sent, confirmed or failed intent of each of these wallets, by wallet. */
export async function readLastIntents(
  db: NodePgDatabase,
  chainId: number,
  wallets: readonly string[],
): Promise<Map<string, IntentRow>> {
  const newest = db
    .select({ id: sql<number>`max(${publishIntent.id})`.as("id") })
    .from(publishIntent)
    .where(
      and(
        eq(publishIntent.chainId, chainId),
        isOneOf(publishIntent.wallet, wallets),
        inArray(publishIntent.state, ["sent", "confirmed", "failed"]),
      ),
    )
    .groupBy(publishIntent.wallet);
  const rows = await selectIntents(db).where(inArray(publishIntent.id, newest));
  return new Map(rows.map((row) => [row.score.wallet, row]));
}

/**
 * Supersedes the pending intents of these wallets that have a newer score. An intent of the current score stays, also
 * if another transaction stored it just now.
 */
export async function supersedePending(
  db: NodePgDatabase,
  chainId: number,
  wallets: readonly string[],
): Promise<void> {
  if (wallets.length === 0) return;
  await db
    .update(publishIntent)
    .set({ state: "superseded", updatedAt: sql`now()` })
    .where(
      and(
        eq(publishIntent.chainId, chainId),
        eq(publishIntent.state, "pending"),
        isOneOf(publishIntent.wallet, wallets),
        notExists(
          db
            .select()
            .from(currentScore)
            .where(
              and(
                eq(currentScore.chainId, publishIntent.chainId),
                eq(currentScore.wallet, publishIntent.wallet),
                eq(currentScore.scoreId, publishIntent.scoreId),
              ),
            ),
        ),
      ),
    );
}

export type NewIntent = Pick<
  typeof publishIntent.$inferSelect,
  "wallet" | "scoreId" | "reason" | "attempts" | "notBefore"
>;

/** Stores pending intents; where another transaction stored one for the wallet meanwhile, the newer score stays. */
export async function insertPending(
  db: NodePgDatabase,
  chainId: number,
  intents: readonly NewIntent[],
): Promise<void> {
  if (intents.length === 0) return;
  await db
    .insert(publishIntent)
    .values(intents.map((intent) => ({ ...intent, chainId, state: "pending" as const })))
    .onConflictDoUpdate({
      target: [publishIntent.chainId, publishIntent.wallet],
      targetWhere: sql`state = 'pending'`,
      set: {
        scoreId: sql`excluded.score_id`,
        reason: sql`excluded.reason`,
        attempts: sql`excluded.attempts`,
        notBefore: sql`excluded.not_before`,
        updatedAt: sql`now()`,
      },
      setWhere: lt(publishIntent.scoreId, sql`excluded.score_id`),
    });
}

/** Changes intents alike; throws when one is gone or no longer in the state it was read in. */
export async function patchIntents(
  db: NodePgDatabase,
  change: {
    readonly ids: readonly number[];
    readonly from: (typeof publishIntent.$inferSelect)["state"];
    readonly patch: Partial<typeof publishIntent.$inferSelect>;
  },
): Promise<void> {
  if (change.ids.length === 0) return;
  const changed = await db
    .update(publishIntent)
    .set({ ...change.patch, updatedAt: sql`now()` })
    .where(and(isOneOf(publishIntent.id, change.ids), eq(publishIntent.state, change.from)))
    .returning({ id: publishIntent.id });
  if (changed.length !== change.ids.length) {
    throw new Error(
      `${change.ids.length - changed.length} of ${change.ids.length} intents are no longer ${change.from}`,
    );
  }
}

/** Pending intents become sent by one transaction, each with the safe amount that its word carries. */
export async function markSent(
  db: NodePgDatabase,
  intents: readonly Pick<IntentRow, "id" | "safeMicroUsd">[],
  senderTransactionId: number,
): Promise<void> {
  const ids = intents.map((intent) => intent.id);
  const amounts = intents.map((intent) => `${intent.safeMicroUsd}`);
  await patchIntents(db, {
    ids,
    from: "pending",
    patch: { state: "sent", senderTransactionId, error: null },
  });
  await db
    .update(publishIntent)
    .set({ safeMicroUsd: sql`given.amount` })
    .from(sql`unnest(${sql.param(ids)}::bigint[], ${sql.param(amounts)}::numeric[]) as given (id, amount)`)
    .where(sql`${publishIntent.id} = given.id`);
}

function selectIntents(db: NodePgDatabase) {
  const { id, reason, state, safeMicroUsd, attempts, notBefore, createdAt } = publishIntent;
  const columns = { id, reason, state, safeMicroUsd, attempts, notBefore, createdAt };
  return db
    .select({ ...columns, score: scoreColumns, transaction: orderColumns })
    .from(publishIntent)
    .innerJoin(score, eq(score.id, publishIntent.scoreId))
    .leftJoin(senderTransaction, eq(senderTransaction.id, publishIntent.senderTransactionId));
}

/** Purpose under which score batches are sent, and their gas is counted. */
export const PUBLISH_PURPOSE = "publish";

/** Reads the gas that publishing scores has used so far in this UTC day. */
export async function readGasToday(
  db: NodePgDatabase,
  chainId: number,
  now: Date,
): Promise<{
  /** Gas of the day's transactions: used where mined, the limit where under way. */
  gas: bigint;
  /** Scores in transactions that have no gas limit yet. */
  queuedScores: number;
  /** Such transactions. */
  queued: number;
}> {
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
