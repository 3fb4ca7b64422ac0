import { and, desc, eq, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { type Database, underDeadline } from "../db/database.ts";
import { startOfDay } from "../db/day-budget.ts";
import { FIRST_SCHEME } from "../db/tables/payment.ts";
import { senderTransaction } from "../db/tables/publish.ts";
import type { OrderTransaction } from "./orders/order-kind.ts";
import type { PayerGas } from "./send-policy.ts";
import {
  enqueueTransaction,
  SENDER_CHANNEL,
  type SenderKey,
  type SenderTransaction,
  WITHOUT_NONCE,
} from "./sender-transactions.ts";

/** Names one authorization, for good: its token or Permit2 marks the nonce as used. All lower-case. */
export type AuthorizationId = {
  readonly scheme: string;
  readonly asset: Address;
  readonly payer: Address;
  readonly nonce: Hex;
  /**
   * end: the capture or return of what an escrow holds; collect and settle: claims of vouchers, and their payment, with the receiver
   * as payer; else the call that takes the payer's money.
   */
  readonly step?: "end" | "collect" | "settle";
};

/** State of the transaction that carries out an authorization; the block of a final one cannot be reorged. */
export type SettlementTransaction = OrderTransaction & Pick<SenderTransaction, "minedHash" | "error">;

const PURPOSE = "x402";

type Order = { authorization: AuthorizationId; to: Address; data: Hex };

/** Queues a call once per authorization, in the transaction if there is one. Returns the row's id. */
export function queueCall(db: NodePgDatabase, key: SenderKey, order: Order): Promise<number> {
  return enqueueTransaction(db, {
    ...key,
    reference: referenceOf(key.chainId, order.authorization),
    purpose: PURPOSE,
    to: order.to,
    data: order.data,
    value: 0n,
  });
}

const NEVER_SENT = {
  ...WITHOUT_NONCE,
  final: false,
  minedHash: null,
  minedBlock: null,
  minedAt: null,
  gasUsed: null,
  costWei: null,
};

/**
 * Queues the call that carries out an authorization, once per authorization. One that failed before it was ever sent is queued
 * again, since the new caller has seen it pass a simulation. So is a later step that reverted in a final block: its caller has seen
 * that the money is still there. Returns the row's id.
 */
export async function enqueueSettlement(pool: Database, key: SenderKey, order: Order): Promise<number> {
  const db = underDeadline(pool);
  const id = await queueCall(db, key, order);
  const revived = await db
    .update(senderTransaction)
    .set({
      state: "queued",
      data: order.data,
      attempts: 0,
      updatedAt: sql`now()`,
      notBefore: null,
      failure: null,
      error: null,
      revertData: null,
      // A server queues first steps alone, and may change no more columns: a failed one has no nonce and no block.
      ...(order.authorization.step === undefined ? {} : NEVER_SENT),
    })
    .where(
      and(
        eq(senderTransaction.id, id),
        or(
          eq(senderTransaction.state, "failed"),
          // A payer's reverted settlements stay on record: their gas is counted.
          order.authorization.step === undefined
            ? undefined
            : and(eq(senderTransaction.state, "reverted"), eq(senderTransaction.final, true)),
        ),
      ),
    )
    .returning({ id: senderTransaction.id });
  if (revived.length > 0) await db.execute(sql`select pg_notify(${SENDER_CHANNEL}, '')`);
  return id;
}

/** State of an order by its row; null if the row is gone. */
export async function readSettlement(db: Database, id: number): Promise<SettlementTransaction | null> {
  const [row] = await underDeadline(db)
    .select(columns)
    .from(senderTransaction)
    .where(eq(senderTransaction.id, id));
  return row ?? null;
}

/**
 * Returns the status of the order for an authorization; null when none was ever queued. Of two orders, by keys that followed one
 * another, it returns the one that may still be carried out.
 */
export async function findSettlement(
  db: Database,
  chainId: number,
  authorization: AuthorizationId,
): Promise<SettlementTransaction | null> {
  const [row] = await underDeadline(db)
    .select(columns)
    .from(senderTransaction)
    .where(
      and(
        eq(senderTransaction.chainId, chainId),
        eq(senderTransaction.reference, referenceOf(chainId, authorization)),
      ),
    )
    .orderBy(sql`${senderTransaction.state} = 'failed'`, desc(senderTransaction.id))
    .limit(1);
  return row ?? null;
}

/** Calls for money that was taken before: no payer may delay them. */
const LATER_STEP = /\/(end|collect|settle)$/;

/** Settlements of a payer by which it is judged. */
const JUDGED = 5_000;

/** The start of the references of a payer's settlements; null for a call that takes no payer's money. */
export function payerOfCall({
  purpose,
  reference,
}: Pick<SenderTransaction, "purpose" | "reference">): string | null {
  if (purpose !== PURPOSE || LATER_STEP.test(reference)) return null;
  return reference.slice(0, reference.lastIndexOf(":") + 1);
}

/** The same of an authorization. */
export function payerOf(chainId: number, { asset, payer }: Pick<AuthorizationId, "asset" | "payer">): string {
  return `x402:${chainId}:${asset}:${payer}:`.toLowerCase();
}

/** Gas of a payer's settlements. */
export async function readPayerGas(
  db: NodePgDatabase,
  { chainId, payer, now }: { readonly chainId: number; readonly payer: string; readonly now: Date },
): Promise<PayerGas> {
  const { rows } = await db.execute<Record<keyof PayerGas, string>>(sql`
    select coalesce(sum(gas_used) filter (where state = 'mined'), 0)::text as paid,
      coalesce(sum(gas_used) filter (where state = 'reverted'), 0)::text as reverted,
      coalesce(sum(coalesce(gas_used, gas_limit)) filter (
        where coalesce(broadcast_at, updated_at) >= ${startOfDay(now).toISOString()}::timestamptz), 0)::text as today
    from (
      select * from ahs.sender_transaction
      where chain_id = ${chainId} and purpose = 'x402' and reference like ${`${payer}%`}
        and reference !~ ${LATER_STEP.source} limit ${JUDGED}
    ) as settlement`);
  const [row] = rows;
  if (row === undefined) throw new Error(`the gas of ${payer} was not read`);
  return { paid: BigInt(row.paid), reverted: BigInt(row.reverted), today: BigInt(row.today) };
}

const { state, final, minedHash, minedBlock, failure, error, revertData } = senderTransaction;
const columns = { state, final, minedHash, minedBlock, failure, error, revertData };

/** The reference of the call that takes the payer's money, in SQL, of rows with these columns. */
export function referenceIn(
  row: Record<"chainId" | Exclude<keyof AuthorizationId, "step">, SQLWrapper>,
): SQL {
  const { chainId, scheme, asset, payer, nonce } = row;
  return sql`concat('x402:', ${chainId}, ':', ${asset}, ':', ${payer}, ':', ${nonce},
    case when ${scheme} <> ${FIRST_SCHEME} then '/' || ${scheme} end)`;
}

/** The schemes count nonces apart. Everything before the last colon is the same for all payments of a payer. */
function referenceOf(chainId: number, { scheme, asset, payer, nonce, step }: AuthorizationId): string {
  const suffix = `${scheme === FIRST_SCHEME ? "" : `/${scheme}`}${step === undefined ? "" : `/${step}`}`;
  return `${payerOf(chainId, { asset, payer })}${nonce}${suffix}`.toLowerCase();
}
