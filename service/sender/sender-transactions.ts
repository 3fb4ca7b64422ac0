import { and, asc, eq, gte, inArray, isNotNull, isNull, lte, ne, or, type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { lowerCase } from "../db/columns.ts";
import { startOfDay } from "../db/day-budget.ts";
import { senderTransaction } from "../db/tables/publish.ts";

/** Channel on which a queued transaction wakes the sender. */
export const SENDER_CHANNEL = "ahs_sender";

export type SenderTransaction = typeof senderTransaction.$inferSelect;
export type SenderTransactionPatch = Partial<typeof senderTransaction.$inferInsert>;

/** Columns of a transaction in state queued: neither a nonce nor anything that depends on one. */
export const WITHOUT_NONCE = {
  nonce: null,
  gasLimit: null,
  maxFeePerGas: null,
  maxPriorityFeePerGas: null,
  hashes: [],
  raw: null,
  broadcastAt: null,
  broadcastBlock: null,
} satisfies SenderTransactionPatch;

/** One key on one chain: whose transactions are meant. */
export type SenderKey = { readonly chainId: number; readonly sender: Address };

/**
 * Queues a transaction for the sender of the key and returns its row's id, that of the earlier request where the reference
 * was used before. It counts once the surrounding database transaction commits; the sender is woken then.
 */
export async function enqueueTransaction(
  db: NodePgDatabase,
  request: SenderKey & {
    /** Names the wish among all of this key: a second request under the same reference adds nothing. */
    readonly reference: string;
    /** Purpose, by which metrics and budgets count it. */
    readonly purpose: string;
    readonly to: Address;
    readonly data: Hex;
    readonly value: bigint;
  },
): Promise<number> {
  const key = { chainId: request.chainId, sender: lowerCase(request.sender) };
  const [inserted] = await db
    .insert(senderTransaction)
    .values({ ...request, ...key, to: lowerCase(request.to), state: "queued", hashes: [] })
    .onConflictDoNothing({
      target: [senderTransaction.chainId, senderTransaction.sender, senderTransaction.reference],
    })
    .returning({ id: senderTransaction.id });
  if (inserted !== undefined) {
    await db.execute(sql`select pg_notify(${SENDER_CHANNEL}, '')`);
    return inserted.id;
  }
  const [earlier] = await db
    .select({ id: senderTransaction.id })
    .from(senderTransaction)
    .where(and(ofKey({ ...request }), eq(senderTransaction.reference, request.reference)));
  if (earlier === undefined) throw new Error(`transaction ${request.reference}: neither stored nor found`);
  return earlier.id;
}

/** Transactions that hold a nonce and are not final, by nonce. */
export async function readOpenTransactions(db: NodePgDatabase, key: SenderKey): Promise<SenderTransaction[]> {
  const { state, nonce } = senderTransaction;
  return selectOpen(db, key, ne(state, "failed"), ne(state, "queued")).orderBy(asc(nonce));
}

/** Transactions that hold a nonce and are not mined, by nonce. */
export async function readUnminedTransactions(
  db: NodePgDatabase,
  key: SenderKey,
): Promise<SenderTransaction[]> {
  const { state, nonce } = senderTransaction;
  return selectOpen(db, key, or(eq(state, "prepared"), eq(state, "broadcast"))).orderBy(asc(nonce));
}

/** Transactions that wait for a nonce and are due, oldest first. */
export async function readQueuedTransactions(
  db: NodePgDatabase,
  key: SenderKey,
  due: { readonly now: Date; readonly limit: number },
): Promise<SenderTransaction[]> {
  const { id, state, notBefore } = senderTransaction;
  const isDue = or(isNull(notBefore), lte(notBefore, due.now));
  return selectOpen(db, key, eq(state, "queued"), isDue).orderBy(asc(id)).limit(due.limit);
}

function selectOpen(db: NodePgDatabase, key: SenderKey, ...conditions: (SQL | undefined)[]) {
  return db
    .select()
    .from(senderTransaction)
    .where(and(ofKey(key), eq(senderTransaction.final, false), ...conditions));
}

/** The largest nonce that any row of the key holds; null when none does. */
export async function readHighestNonce(db: NodePgDatabase, key: SenderKey): Promise<number | null> {
  const [row] = await db
    .select({ nonce: sql<string | null>`max(${senderTransaction.nonce})` })
    .from(senderTransaction)
    .where(ofKey(key));
  return row === undefined || row.nonce === null ? null : Number(row.nonce);
}

export async function updateTransaction(
  db: NodePgDatabase,
  id: number,
  patch: SenderTransactionPatch,
): Promise<SenderTransaction> {
  const [row] = await db
    .update(senderTransaction)
    .set({ ...patch, updatedAt: sql`now()` })
    .where(eq(senderTransaction.id, id))
    .returning();
  if (row === undefined) throw new Error(`transaction ${id} is no longer stored`);
  return row;
}

function ofKey(key: SenderKey) {
  return and(eq(senderTransaction.chainId, key.chainId), eq(senderTransaction.sender, lowerCase(key.sender)));
}

const DAY_MS = 86_400_000;

/** Gas that transactions of these purposes took of the UTC day: used where they are mined, their limit where they are under way. */
export async function readGasSpent(
  db: NodePgDatabase,
  of: { chainId: number; purposes: readonly string[]; now: Date },
): Promise<bigint> {
  const { chainId, purposes, now } = of;
  const midnight = startOfDay(now).getTime();
  const [spent] = await db
    .select({
      gas: sql<string>`coalesce(sum(coalesce(${senderTransaction.gasUsed}, ${senderTransaction.gasLimit})), 0)`,
    })
    .from(senderTransaction)
    .where(
      and(
        eq(senderTransaction.chainId, chainId),
        inArray(senderTransaction.purpose, [...purposes]),
        // A transaction queued the day before may be sent today.
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
