import { and, asc, count, eq, gte, inArray, isNull, lte, ne, or, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { startOfDay, turnOf } from "../db/day-budget.ts";
import { indexOf } from "../db/index-tables.ts";
import { type EnrolmentState, enrolment } from "../db/tables/history.ts";
import { senderTransaction } from "../db/tables/publish.ts";
import { orderColumns } from "../sender/orders/order-kind.ts";
import { insertEnrolments } from "./enrolments.sql.ts";

export const ENROL_PURPOSE = "enrol";

/** An enrolment that is not settled, with what the index and the sender know of it. */
export type EnrolmentRow = Awaited<ReturnType<typeof readOpenEnrolments>>[number];

/**
 * Asks to follow wallets (lower-case, distinct) that a caller has paid for. Left out are wallets that are followed, refused, or were paid
 * for before, those of which no own call is known (the publisher pays for no token or router), and those beyond the payer's queue.
 */
export async function requestEnrolments(
  tx: NodePgDatabase,
  of: Parameters<typeof insertEnrolments>[0],
): Promise<void> {
  await tx.execute(insertEnrolments(of));
}

/**
 * Enrolments on their way, then as many as given of those that are due: paid ones first, payers in turns by what they had today, of each
 * payer the oldest.
 */
export async function readOpenEnrolments(
  tx: NodePgDatabase,
  chainId: number,
  due: { readonly now: Date; readonly limit: number },
) {
  const { wallet, state, attempts, notBefore, cause, requestedBy, requestedAt } = enrolment;
  const { wallet: followed } = indexOf(chainId);
  const hadToday = sql<number>`(
    select count(*)::int from ahs.enrolment e join ahs.sender_transaction t on t.id = e.sender_transaction_id
    where e.chain_id = ${chainId} and e.requested_by = ${requestedBy} and t.state <> 'failed'
      and t.created_at >= ${startOfDay(due.now).toISOString()}::timestamptz)`;
  const columns = {
    wallet,
    state,
    attempts,
    notBefore,
    cause,
    requestedBy,
    /** Requests of the same payer that were sent in the UTC day. */
    hadToday,
    /** Block from which the index follows the wallet; null while it does not. */
    followedBlock: sql<number | null>`(
      select ${followed.followedBlock}::float8 from ${followed} where ${followed.address} = ${enrolment.wallet})`,
    /** True if the operator excludes the wallet. */
    isUnfollowed: sql<boolean>`exists (
      select from ahs.unfollowed u where u.chain_id = ${chainId} and u.address = ${enrolment.wallet})`,
    transaction: orderColumns,
  };
  const ofState = (wanted: EnrolmentState) =>
    tx
      .select(columns)
      .from(enrolment)
      .leftJoin(senderTransaction, eq(senderTransaction.id, enrolment.senderTransactionId))
      .where(
        and(
          eq(enrolment.chainId, chainId),
          eq(enrolment.state, wanted),
          or(isNull(enrolment.notBefore), lte(enrolment.notBefore, due.now)),
        ),
      )
      .orderBy(
        asc(cause),
        turnOf(sql`${cause}, ${requestedBy}`, sql`${requestedAt}, ${wallet}`, hadToday),
        asc(requestedAt),
        asc(wallet),
      );
  const sent = await ofState("sent");
  return [...sent, ...(await ofState("pending").limit(due.limit))];
}

export async function hasDueEnrolment(db: NodePgDatabase, chainId: number, now: Date): Promise<boolean> {
  const rows = await db
    .select({ wallet: enrolment.wallet })
    .from(enrolment)
    .where(
      and(
        eq(enrolment.chainId, chainId),
        eq(enrolment.state, "pending"),
        or(isNull(enrolment.notBefore), lte(enrolment.notBefore, now)),
      ),
    )
    .limit(1);
  return rows.length > 0;
}

/** Requests of the UTC day that were handed to the sender, those left out that never went out. */
export async function countSentToday(tx: NodePgDatabase, chainId: number, now: Date): Promise<number> {
  return tx.$count(
    senderTransaction,
    and(
      eq(senderTransaction.chainId, chainId),
      eq(senderTransaction.purpose, ENROL_PURPOSE),
      gte(senderTransaction.createdAt, startOfDay(now)),
      ne(senderTransaction.state, "failed"),
    ),
  );
}

export async function countOpenEnrolments(
  db: NodePgDatabase,
  chainId: number,
): Promise<{ readonly pending: number; readonly sent: number }> {
  const rows = await db
    .select({ state: enrolment.state, count: count() })
    .from(enrolment)
    .where(and(eq(enrolment.chainId, chainId), inArray(enrolment.state, ["pending", "sent"])))
    .groupBy(enrolment.state);
  const countOf = (state: EnrolmentState) => rows.find((row) => row.state === state)?.count ?? 0;
  return { pending: countOf("pending"), sent: countOf("sent") };
}

/** Changes an enrolment; throws when it is gone or no longer in the state it was read in. */
export async function patchEnrolment(
  tx: NodePgDatabase,
  key: { chainId: number; wallet: Address; from: EnrolmentState },
  patch: Partial<typeof enrolment.$inferInsert>,
): Promise<void> {
  const changed = await tx
    .update(enrolment)
    .set(patch)
    .where(
      and(
        eq(enrolment.chainId, key.chainId),
        eq(enrolment.wallet, key.wallet),
        eq(enrolment.state, key.from),
      ),
    )
    .returning({ wallet: enrolment.wallet });
  if (changed.length === 0) throw new Error(`the enrolment of ${key.wallet} is no longer ${key.from}`);
}
