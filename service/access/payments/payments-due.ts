import { and, asc, desc, eq, gt, inArray, isNotNull, lte, not, or, type SQL, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import type { Address, Hex } from "viem";
import { isOneOf } from "../../db/columns.ts";
import { type Database, QUERY_DEADLINE, underDeadline } from "../../db/database.ts";
import { payment, paymentChannel } from "../../db/tables/payment.ts";
import { senderTransaction } from "../../db/tables/publish.ts";
import { referenceIn } from "../../sender/payments-sender.ts";
import { ANSWER_STORED_MS, CONFIRM_MS, owedAt, type StoredPayment, settledBy } from "./payments.ts";

/** Filters of the payment list. owed: settled payments without a running request, and payments for verdicts without a decision. */
export const PAYMENT_KINDS = ["reserved", "settled", "owed", "answered", "lost"] as const;
export type PaymentKind = (typeof PAYMENT_KINDS)[number];
/**
 * Kinds that wait for something. They are few, so that counting is cheap. stuck: reserved for longer than a request and
 * its settlement take; not counted as reserved. escrowed: neither captured nor voided yet; counted beside its other kind.
 * unclaimed: channels with charges that are not claimed.
 */
export const HELD_KINDS = ["reserved", "stuck", "settled", "owed", "lost", "escrowed", "unclaimed"] as const;
type HeldKind = (typeof HELD_KINDS)[number];

const STUCK_AFTER_MS = 300_000;

/** A row as it was read. Changes apply only while id, state and deadline are unchanged. */
type DuePayment = Pick<StoredPayment, "id" | "state" | "deadline">;

/** Longer than a running request needs to record that its own order was mined. */
const RECORDED_MS = 5_000;

/**
 * Payments past their deadline, longest due first, reserved before released. The chain decides their outcome. A reserved one is due as
 * well once our own order for it was mined some seconds ago: its request is dead.
 */
export function readDuePayments(
  db: Database,
  { chainId, now, limit }: { readonly chainId: number; readonly now: Date; readonly limit: number },
): Promise<StoredPayment[]> {
  return underDeadline(db)
    .select()
    .from(payment)
    .where(
      and(
        eq(payment.chainId, chainId),
        or(
          and(inArray(payment.state, ["reserved", "released"]), lte(payment.deadline, now)),
          isMinedBefore(new Date(now.getTime() - RECORDED_MS)),
        ),
      ),
    )
    .orderBy(desc(payment.state), asc(payment.deadline))
    .limit(limit);
}

/** Reserved payments whose own order was mined by then. */
function isMinedBefore(moment: Date): SQL | undefined {
  const order = sql`select from ${senderTransaction} where ${senderTransaction.chainId} = ${payment.chainId}
    and ${senderTransaction.reference} = ${referenceIn(payment)} and ${senderTransaction.state} = 'mined'
    and ${senderTransaction.minedAt} <= ${moment.toISOString()}::timestamptz`;
  return and(eq(payment.state, "reserved"), isNotNull(payment.settleAskedAt), sql`exists (${order})`);
}

/** Marks a payment as settled and owed to its payer. Returns false if the row has changed. */
export function settleDue(
  db: Database,
  due: DuePayment,
  { transaction, ...settled }: { readonly transaction: Hex } & Parameters<typeof settledBy>[1],
): Promise<boolean> {
  const { now } = settled;
  return change(db, due, {
    ...settledBy(transaction, settled),
    confirmAt: new Date(now.getTime() + CONFIRM_MS),
    deadline: now,
    updatedAt: now,
    error: null,
  });
}

/** Releases a payment that has not moved. It is checked again when the authorization has expired. */
export function releaseDue(
  db: Database,
  due: DuePayment,
  { error, until, now }: { readonly error: string; readonly until: Date; readonly now: Date },
): Promise<boolean> {
  return change(db, due, {
    state: "released",
    error,
    deadline: until,
    updatedAt: now,
  });
}

/** Postpones the next check. */
export function postponeDue(
  db: Database,
  due: DuePayment,
  { until, now }: { readonly until: Date; readonly now: Date },
): Promise<boolean> {
  return change(db, due, { deadline: until, updatedAt: now });
}

/** Deletes an authorization that expired unused. */
export async function dropDue(db: Database, due: DuePayment): Promise<boolean> {
  const dropped = await underDeadline(db).delete(payment).where(unchanged(due)).returning({ id: payment.id });
  return dropped.length > 0;
}

/** Deletes stored answers after a day; the payments stay. Returns the number of rows. */
export async function dropOldAnswers(db: Database, now: Date): Promise<number> {
  const dropped = await db
    .update(payment)
    .set({ answerType: null, answerBody: null, updatedAt: now })
    .where(
      and(isNotNull(payment.answerBody), lte(payment.answeredAt, new Date(now.getTime() - ANSWER_STORED_MS))),
    )
    .returning({ id: payment.id });
  return dropped.length;
}

/** A payment as it is listed. */
export type ListedPayment = StoredPayment & { readonly kind: PaymentKind | "released" };

/** The newest payments of a kind, or of all kinds. */
export async function listPayments(
  db: Database,
  { kind, now, limit }: { readonly kind: PaymentKind | null; readonly now: Date; readonly limit: number },
): Promise<ListedPayment[]> {
  const rows = await underDeadline(db)
    .select({ row: payment, isOwed: sql<boolean>`${ofKind("owed", now)}` })
    .from(payment)
    .where(kind === null ? undefined : ofKind(kind, now))
    .orderBy(desc(payment.createdAt))
    .limit(limit);
  return rows.map(({ row, isOwed }) => ({ ...row, kind: isOwed ? "owed" : row.state }));
}

export type OwedPayment = Awaited<ReturnType<typeof readOwed>>[number];

/** The newest payments of wallets whose answers are owed, with the amounts that were taken. */
export async function readOwed(
  db: Database,
  of: {
    readonly chainId: number;
    readonly payers: readonly Address[];
    readonly now: Date;
    readonly limit: number;
  },
) {
  const { endpoint, resource, payer, scheme, transactionHash, chargedAmount, amount, settledAt } = payment;
  return underDeadline(db)
    .select({
      endpoint,
      resource,
      payer,
      scheme,
      transactionHash,
      amount: sql`coalesce(${chargedAmount}, ${amount})`.mapWith(amount),
      settledAt: sql<Date>`${settledAt}`.mapWith(settledAt),
    })
    .from(payment)
    .where(and(eq(payment.chainId, of.chainId), isOneOf(payer, of.payers), owedAt(of.now)))
    .orderBy(desc(settledAt))
    .limit(of.limit);
}

/** Number of payments of each waiting kind. */
export async function countPayments(
  db: Database,
  chainId: number,
  now: Date,
): Promise<Readonly<Record<HeldKind, number>>> {
  const counted = await Promise.all(
    HELD_KINDS.map(async (kind) => [
      kind,
      kind === "unclaimed"
        ? await underDeadline(db).$count(
            paymentChannel,
            and(eq(paymentChannel.chainId, chainId), gt(paymentChannel.charged, paymentChannel.collected)),
          )
        : await underDeadline(db).$count(payment, and(eq(payment.chainId, chainId), isHeld(kind, now))),
    ]),
  );
  // The list contains every kind.
  return Object.fromEntries(counted) as Record<HeldKind, number>;
}

function isHeld(kind: Exclude<HeldKind, "unclaimed">, now: Date): SQL | undefined {
  const stuckSince = new Date(now.getTime() - STUCK_AFTER_MS);
  switch (kind) {
    case "reserved":
      return and(ofKind("reserved", now), gt(payment.createdAt, stuckSince));
    case "stuck":
      return and(ofKind("reserved", now), lte(payment.createdAt, stuckSince));
    case "escrowed":
      return isNotNull(payment.captureAt);
    default:
      return ofKind(kind, now);
  }
}

function ofKind(kind: PaymentKind, now: Date): SQL | undefined {
  switch (kind) {
    case "reserved":
    case "lost":
      return eq(payment.state, kind);
    case "answered":
      return and(eq(payment.state, "answered"), not(buysAwaited));
    case "settled":
      return and(eq(payment.state, "settled"), gt(payment.deadline, now), not(buysAwaited));
    case "owed":
      return or(
        and(eq(payment.state, "settled"), lte(payment.deadline, now)),
        and(inArray(payment.state, ["settled", "answered"]), buysAwaited),
      );
  }
}

/** Buys a verdict without a decision, and is not returned, by the payment escrow or as credits. An array, so that few rows are found by their ids. */
const buysAwaited = sql`(coalesce(${payment.captureState}, '') not in ('voiding', 'voided') and ${payment.id} = any(array(
  select payment_id from ahs.verdict
  where status in ('pending', 'processing', 'failed') and runs = 0 and payment_id is not null
    and not exists (select from ahs.key_credit where key_credit.id = payment_id))))`;

async function change(
  db: Database,
  due: DuePayment,
  set: PgUpdateSetSource<typeof payment>,
): Promise<boolean> {
  const changed = await underDeadline(db)
    .update(payment)
    .set(set)
    .where(unchanged(due))
    .returning({ id: payment.id });
  return changed.length > 0;
}

function unchanged({ id, state, deadline }: DuePayment): SQL | undefined {
  // PostgreSQL stores microseconds, a Date milliseconds.
  const asRead = sql`date_trunc('milliseconds', ${payment.deadline}) = ${deadline}`;
  return and(eq(payment.id, id), eq(payment.state, state), asRead);
}

/** Settled payments whose block was not final at the last check, longest due first. */
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
    .set({ confirmAt: null, error: null })
    .where(and(eq(payment.id, id), ofMoved));
}

/** Postpones the check, with what the last one found: the transaction that has the money now, or why it seems lost. */
export async function confirmLater(
  db: Database,
  { id }: Pick<StoredPayment, "id">,
  { until, ...found }: { readonly until: Date } & Partial<Pick<StoredPayment, "transactionHash" | "error">>,
): Promise<void> {
  await underDeadline(db)
    .update(payment)
    .set({ confirmAt: until, ...found })
    .where(and(eq(payment.id, id), ofMoved));
}

const ofMoved = inArray(payment.state, ["settled", "answered"]);

const LOSE = `
  with lost as (
    update ahs.payment set state = 'lost', confirm_at = null, capture_at = null, error = $2, updated_at = $3::timestamptz
    where id = $1 and state in ('settled', 'answered')
    returning id
  ), credit as (
    select key_id, units from ahs.key_credit where id in ($1, $4) and exists (select from lost)
  ), revoked as (
    update ahs.api_key set revoked_at = $3::timestamptz from credit
    where api_key.id = credit.key_id and api_key.id in ($1, $4) and revoked_at is null
  ), debited as (
    update ahs.api_key set balance_units = greatest(balance_units - credit.units, 0) from credit
    where api_key.id = credit.key_id and api_key.id not in ($1, $4)
  )
  select id from lost`;

/**
 * Marks a payment as lost after a final reorganisation: nothing is owed for it, a key that it bought, or that holds its returned price, is
 * revoked, and a credit is deducted from the key's balance down to 0. Returns false if the row has changed.
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
