import { and, asc, eq, inArray, lte } from "drizzle-orm";
import type { Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { QUERY_DEADLINE, underDeadline } from "../../db/query-deadline.ts";
import { payment } from "../../db/tables/payment.ts";
import type { StoredPayment } from "./payments.ts";

/** Payments whose money moved in a block that was not final when it was last looked at, longest due first. */
export function readUnconfirmed(
  db: Database,
  { chainId, now, limit }: { readonly chainId: number; readonly now: Date; readonly limit: number },
): Promise<StoredPayment[]> {
  return underDeadline(db)
    .select()
    .from(payment)
    .where(and(eq(payment.chainId, chainId), lte(payment.confirmAt, now), ofMoved))
    .orderBy(asc(payment.confirmAt))
    .limit(limit);
}

/** The money stays. */
export async function confirm(db: Database, id: string): Promise<void> {
  await underDeadline(db)
    .update(payment)
    .set({ confirmAt: null })
    .where(and(eq(payment.id, id), ofMoved));
}

/** Looks again at that moment, at the transaction that has the money now. */
export async function confirmLater(
  db: Database,
  id: string,
  { transaction, until }: { readonly transaction: Hex | null; readonly until: Date },
): Promise<void> {
  await underDeadline(db)
    .update(payment)
    .set({ confirmAt: until, ...(transaction === null ? {} : { transactionHash: transaction }) })
    .where(and(eq(payment.id, id), ofMoved));
}

const ofMoved = inArray(payment.state, ["settled", "answered"]);

const LOSE = `
  with lost as (
    update ahs.payment set state = 'lost', confirm_at = null, error = $2, updated_at = $3::timestamptz
    where id = $1 and state in ('settled', 'answered')
    returning id
  ), credit as (
    select key_id, units from ahs.key_credit where id = $4 and exists (select from lost)
  ), revoked as (
    update ahs.api_key set revoked_at = $3::timestamptz from credit
    where api_key.id = credit.key_id and api_key.id = $4 and revoked_at is null
  ), debited as (
    update ahs.api_key set balance_units = greatest(balance_units - credit.units, 0) from credit
    where api_key.id = credit.key_id and api_key.id <> $4
  )
  select id from lost`;

/**
 * The chain took the money of a payment back for good: what it bought is no longer owed, a key bought by it is revoked, and what it
 * credited to another key is taken off that one's balance, as far as it is there. False when the row has changed meanwhile.
 */
export async function losePayment(
  db: Database,
  id: string,
  lost: { readonly error: string; readonly creditId: string; readonly now: Date },
): Promise<boolean> {
  const { rows } = await db.$client.query({
    ...QUERY_DEADLINE,
    text: LOSE,
    values: [id, lost.error, lost.now, lost.creditId],
  });
  return rows.length > 0;
}
