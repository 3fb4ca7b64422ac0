import { and, type Column, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { creditPayer } from "../../access/api-keys.sql.ts";
import { keepDebit, returnDebit } from "../../access/key-debits.ts";
import { keyDebit } from "../../db/tables/api-key.ts";
import { type PaymentState, payment } from "../../db/tables/payment.ts";

/** The price of a purchase that outlasts its request: a debit of a metered key, a payment, or neither for an unlimited key. */
export type Price = { readonly debitId: string | null; readonly paymentId: string | null };

/** activate: it is paid. drop: it will never be paid. wait: not known yet. */
export type PriceFate = "activate" | "drop" | "wait";

const FATE_BY_PAYMENT = {
  settled: "activate",
  answered: "activate",
  reserved: "wait",
  released: "drop",
  lost: "drop",
} as const satisfies Record<PaymentState, PriceFate>;

/** A price with the states of its debit and its payment; null if that does not exist or was deleted. */
export type LockedPrice = Awaited<ReturnType<typeof lockPrice>>;

/** Locks a price until the database transaction ends. */
export async function lockPrice(tx: NodePgDatabase, { debitId, paymentId }: Price) {
  const [debit] = await tx
    .select({ state: keyDebit.state })
    .from(keyDebit)
    .where(sql`${keyDebit.id} = ${debitId}`)
    .for("update");
  const [paid] = await tx
    .select({ state: payment.state })
    .from(payment)
    .where(sql`${payment.id} = ${paymentId}`)
    .for("update");
  return { debitId, paymentId, debit: debit?.state ?? null, payment: paid?.state ?? null };
}

/** Decides about a purchase by the state of its price. A purchase without a price is activated only by its request. */
export function fateOf({ paymentId, debit, payment }: LockedPrice): PriceFate {
  if (paymentId !== null) return payment === null ? "drop" : FATE_BY_PAYMENT[payment];
  switch (debit) {
    case "kept":
      return "activate";
    case "held":
      return "wait";
    case "returned":
    case null:
      return "drop";
  }
}

/**
 * Captures the debit of a purchase, or marks its payment answered, with the response for repeats of the request. Throws if the price was
 * given back.
 */
export async function keepPrice(
  tx: NodePgDatabase,
  { debitId, paymentId }: Price,
  { answer, bought, at }: { answer: object; bought: string; at: Date },
): Promise<void> {
  await keepDebit(tx, debitId);
  if (paymentId === null) return;
  const body = Buffer.from(JSON.stringify(answer));
  // An answered payment keeps its response.
  const ifSettled = (answered: SQL, column: Column) =>
    sql`case when ${payment.state} = 'settled' then ${answered} else ${column} end`;
  const { rowCount } = await tx
    .update(payment)
    .set({
      state: "answered",
      updatedAt: at,
      answeredAt: sql`coalesce(${payment.answeredAt}, ${at})`,
      answerType: ifSettled(sql`'application/json'`, payment.answerType),
      answerBody: ifSettled(sql`${body}`, payment.answerBody),
    })
    .where(and(eq(payment.id, paymentId), inArray(payment.state, ["settled", "answered"])));
  if (rowCount !== 1) throw new Error(`payment ${paymentId} has not moved, so that it buys no ${bought}`);
}

/** Gives a captured price back: to the key, or for a payment as the credits of a key that its wallet owns. */
export async function returnPrice(
  tx: NodePgDatabase,
  { debitId, paymentId, units }: Price & { readonly units: number },
  at: Date,
): Promise<void> {
  if (debitId !== null) await returnDebit(tx, debitId);
  if (paymentId !== null) await creditPayer(tx, { paymentId, units, now: at });
}
