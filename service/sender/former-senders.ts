import { and, eq, inArray, ne, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { lowerCase } from "../db/columns.ts";
import { senderTransaction } from "../db/tables/publish.ts";
import { SENDER_CHANNEL } from "./sender-session.ts";

/** Other keys than this one that have transactions of these purposes queued or not final. */
export async function readFormerSenders(
  db: NodePgDatabase,
  of: { readonly chainId: number; readonly purposes: readonly string[]; readonly present: Address },
): Promise<Address[]> {
  const rows = await db
    .selectDistinct({ sender: senderTransaction.sender })
    .from(senderTransaction)
    .where(
      and(
        eq(senderTransaction.chainId, of.chainId),
        inArray(senderTransaction.purpose, [...of.purposes]),
        eq(senderTransaction.final, false),
        ne(senderTransaction.state, "failed"),
        ne(senderTransaction.sender, lowerCase(of.present)),
      ),
    );
  return rows.map(({ sender }) => sender);
}

type HandOver = {
  readonly chainId: number;
  readonly purposes: readonly string[];
  readonly from: Address;
  readonly to: Address;
};

/**
 * Hands the queued transactions of these purposes, which hold no nonce, from one key to another, and wakes its sender. One whose
 * reference the other key has used already has failed: that key's own is the one that counts. Returns how many were handed over
 * and how many ended. Only whoever holds the first key's lock may.
 */
export async function handOverQueued(
  db: NodePgDatabase,
  of: HandOver,
): Promise<{ readonly handed: number; readonly ended: number }> {
  const to = lowerCase(of.to);
  const isUsed = sql`exists (select 1 from ahs.sender_transaction other where other.chain_id = ${of.chainId}
    and other.sender = ${to} and other.reference = ${senderTransaction.reference})`;
  const handed = await db
    .update(senderTransaction)
    .set({ sender: to, attempts: 0, notBefore: null, failure: null, error: null, updatedAt: sql`now()` })
    .where(and(isQueuedOf(of), sql`not ${isUsed}`))
    .returning({ id: senderTransaction.id });
  if (handed.length > 0) await db.execute(sql`select pg_notify(${SENDER_CHANNEL}, '')`);
  const ended = await db
    .update(senderTransaction)
    .set({ state: "failed", notBefore: null, failure: "refused", error: DOUBLED, updatedAt: sql`now()` })
    .where(and(isQueuedOf(of), isUsed))
    .returning({ id: senderTransaction.id });
  return { handed: handed.length, ended: ended.length };
}

const DOUBLED = "the key that took over sends a transaction of this reference already";

function isQueuedOf({ chainId, from, purposes }: HandOver) {
  return and(
    eq(senderTransaction.chainId, chainId),
    eq(senderTransaction.sender, lowerCase(from)),
    inArray(senderTransaction.purpose, [...purposes]),
    eq(senderTransaction.state, "queued"),
  );
}
