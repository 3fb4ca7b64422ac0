import { and, desc, eq, gte, ne, or } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import type { Database } from "../db/database.ts";
import { lockName } from "../db/session.sql.ts";
import { epoch, senderTransaction } from "../db/tables/publish.ts";
import { orderColumns } from "../sender/orders/order-kind.ts";

/** An epoch without its leaves, and the transaction that carries its root. */
export type EpochRow = Awaited<ReturnType<typeof selectEpochs>>[number];

/** The newest epoch made at or after the given moment; null without one. */
export async function readEpochSince(
  db: NodePgDatabase,
  chainId: number,
  since: Date,
): Promise<EpochRow | null> {
  const [row] = await selectEpochs(db)
    .where(and(eq(epoch.chainId, chainId), gte(epoch.createdAt, since)))
    .orderBy(desc(epoch.epoch))
    .limit(1);
  return row ?? null;
}

/** Epochs that are sent, and confirmed ones that a reorg can still undo. */
export async function readUnsettledEpochs(db: NodePgDatabase, chainId: number): Promise<EpochRow[]> {
  return selectEpochs(db).where(
    and(
      eq(epoch.chainId, chainId),
      ne(epoch.state, "superseded"),
      or(eq(epoch.state, "sent"), eq(senderTransaction.final, false)),
    ),
  );
}

/** Stores an epoch; throws when its number is taken. */
export async function insertEpoch(
  db: NodePgDatabase,
  row: Omit<typeof epoch.$inferInsert, "state" | "attempts" | "notBefore">,
): Promise<void> {
  await db.insert(epoch).values({ ...row, state: "sent", attempts: 1 });
}

/** Changes an epoch; its root and leaves never change. */
export async function patchEpoch(
  db: NodePgDatabase,
  key: { readonly chainId: number; readonly epoch: number },
  patch: Partial<Pick<typeof epoch.$inferInsert, "state" | "attempts" | "notBefore" | "senderTransactionId">>,
): Promise<void> {
  await db
    .update(epoch)
    .set(patch)
    .where(and(eq(epoch.chainId, key.chainId), eq(epoch.epoch, key.epoch)));
}

/** Makes other transactions that ask for the same chain's epoch wait until this one ends. */
export async function lockEpochs(tx: NodePgDatabase, chainId: number): Promise<void> {
  await lockName(tx, `ahs-epoch:${chainId}`);
}

function selectEpochs(db: NodePgDatabase) {
  const { epoch: number, root, uri, state, attempts, notBefore } = epoch;
  return db
    .select({ epoch: number, root, uri, state, attempts, notBefore, transaction: orderColumns })
    .from(epoch)
    .innerJoin(senderTransaction, eq(senderTransaction.id, epoch.senderTransactionId));
}

/** A nightly Merkle list as it was published. */
export type StoredEpoch = Pick<typeof epoch.$inferSelect, "root" | "leaves" | "createdAt">;

/** The root of one epoch; null without one, or when the oracle moved past it before it was published. */
export async function readEpochRoot(db: Database, chainId: number, number: number): Promise<Hex | null> {
  const rows = await db.select({ root: epoch.root }).from(epoch).where(isPublished(chainId, number));
  return rows[0]?.root ?? null;
}

/** One epoch's list; null without one, or when the oracle moved past it before it was published. */
export async function readEpoch(db: Database, chainId: number, number: number): Promise<StoredEpoch | null> {
  const { root, leaves, createdAt } = epoch;
  const rows = await db.select({ root, leaves, createdAt }).from(epoch).where(isPublished(chainId, number));
  return rows[0] ?? null;
}

function isPublished(chainId: number, number: number) {
  return and(eq(epoch.chainId, chainId), eq(epoch.epoch, number), ne(epoch.state, "superseded"));
}
