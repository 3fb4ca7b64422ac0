import { and, count, eq, getTableColumns, lt, min, ne, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Address, encodeFunctionData } from "viem";
import { verdictEvaluatorAbi } from "../../chain/abi/verdict-evaluator.ts";
import { type VerdictMessage, verdictMessage } from "../../chain/verdict-codec.ts";
import { lockName } from "../../db/session.sql.ts";
import { senderTransaction } from "../../db/tables/publish.ts";
import { settlement } from "../../db/tables/settlement.ts";
import { orderColumns } from "../../sender/orders/order-kind.ts";
import { enqueueTransaction } from "../../sender/sender-transactions.ts";
import { DECISION_CODES, type JobName } from "./types.ts";

/** A signed verdict to insert. */
export type NewSettlement = Omit<
  typeof settlement.$inferSelect,
  | "id"
  | "state"
  | "senderTransactionId"
  | "attempts"
  | "transactionHash"
  | "error"
  | "createdAt"
  | "updatedAt"
>;

/** The signed part, which anyone can send to its evaluator until the deadline; addresses in lower case, times in Unix seconds. */
export type SignedVerdict = Omit<NewSettlement, keyof JobName | "verdictId" | "run">;

/**
 * Locks a job for this database transaction, so that no other one signs for it, and returns the id of its signed terminal verdict; null
 * without one.
 */
export async function takeJob(
  tx: NodePgDatabase,
  { chainId, escrow, jobId }: JobName,
): Promise<number | null> {
  const name = `ahs-job:${chainId}:${escrow}:${jobId}`;
  await lockName(tx, name);
  const signed = await tx
    .select({ id: settlement.id })
    .from(settlement)
    .where(
      and(
        eq(settlement.chainId, chainId),
        eq(settlement.escrow, escrow),
        eq(settlement.jobId, jobId),
        ne(settlement.decision, "HOLD"),
      ),
    );
  return signed[0]?.id ?? null;
}

/** Inserts a signed verdict and returns its id. Throws on a second one of a run, and on a second terminal one of a job. */
export async function insertSettlement(tx: NodePgDatabase, row: NewSettlement, now: Date): Promise<number> {
  const [inserted] = await tx
    .insert(settlement)
    .values({ ...row, state: "signed", createdAt: now, updatedAt: now })
    .returning({ id: settlement.id });
  if (inserted === undefined) throw new Error("an insert answers its row");
  return inserted.id;
}

/** Columns that a renewed signature must not change. */
const SAME = [
  "chainId",
  "escrow",
  "jobId",
  "verdictId",
  "run",
  "decision",
  "evidenceHash",
  "deliverable",
] as const;

/**
 * Replaces an expired signature of a verdict by a new one without attempts; false if the row does not match. The caller knows that the old
 * signature is unusable.
 */
export async function renewSettlement(
  tx: NodePgDatabase,
  of: { id: number; row: NewSettlement },
  now: Date,
): Promise<boolean> {
  const { issuedAt, deadline, evaluator, signer, signature, ...same } = of.row;
  const fresh = { issuedAt, deadline, evaluator, signer, signature };
  const renewed = await tx
    .update(settlement)
    .set({ ...fresh, state: "signed", attempts: 0, senderTransactionId: null, error: null, updatedAt: now })
    .where(
      and(
        eq(settlement.id, of.id),
        eq(settlement.state, "expired"),
        lt(settlement.deadline, issuedAt),
        ...SAME.map((column) => eq(settlement[column], same[column])),
      ),
    )
    .returning({ id: settlement.id });
  return renewed.length > 0;
}

/** A signed verdict that is not confirmed; its transaction is null before the first one and after a reset. */
export type OpenSettlement = Awaited<ReturnType<typeof readOpenSettlements>>[number];
export type SettlementTransaction = NonNullable<OpenSettlement["transaction"]>;

/** Reads open signed verdicts, oldest first, each with its newest transaction. */
export function readOpenSettlements(db: NodePgDatabase, chainId: number) {
  return db
    .select({
      ...getTableColumns(settlement),
      transaction: orderColumns,
    })
    .from(settlement)
    .leftJoin(senderTransaction, eq(senderTransaction.id, settlement.senderTransactionId))
    .where(and(eq(settlement.chainId, chainId), eq(settlement.state, "signed")))
    .orderBy(settlement.id);
}

export type SettlementPatch = Partial<
  Pick<
    typeof settlement.$inferInsert,
    "state" | "senderTransactionId" | "attempts" | "transactionHash" | "error"
  >
>;

/**
 * Changes an open signed verdict, and queues its decision again if its signature expired. False if it is not open any more, or was sent or
 * signed again since it was read.
 */
export async function patchSettlement(
  tx: NodePgDatabase,
  of: Pick<OpenSettlement, "id" | "issuedAt" | "attempts">,
  { patch, now }: { patch: SettlementPatch; now: Date },
): Promise<boolean> {
  const changed = await tx
    .update(settlement)
    .set({ ...patch, updatedAt: now })
    .where(
      and(
        eq(settlement.id, of.id),
        eq(settlement.state, "signed"),
        eq(settlement.issuedAt, of.issuedAt),
        eq(settlement.attempts, of.attempts),
      ),
    )
    .returning({ verdictId: settlement.verdictId, run: settlement.run });
  const [decision] = changed;
  if (decision === undefined) return false;
  if (patch.state === "expired") await queueDecision(tx, decision, now);
  return true;
}

/** Counts open signed verdicts and the seconds of the oldest one, without reading settled ones. */
export async function countOpenSettlements(db: NodePgDatabase, chainId: number, now: Date) {
  const [row] = await db
    .select({ open: count(), oldest: min(settlement.createdAt) })
    .from(settlement)
    .where(and(eq(settlement.chainId, chainId), eq(settlement.state, "signed")));
  const oldest = row?.oldest ?? now;
  return { open: row?.open ?? 0, oldestOpenSeconds: Math.max(0, (now.getTime() - oldest.getTime()) / 1000) };
}

/** Reads the deadline of the signature in a transaction to the evaluator, in Unix seconds; null without a signature. */
export async function readSignatureDeadline(
  db: NodePgDatabase,
  senderTransactionId: number,
): Promise<number | null> {
  const [row] = await db
    .select({ deadline: settlement.deadline })
    .from(settlement)
    .where(eq(settlement.senderTransactionId, senderTransactionId));
  return row?.deadline ?? null;
}

/**
 * Queues the newest decision about a bound job for signing, in the database transaction that makes it the newest or ends its signature.
 * Does nothing if it is not the newest, is signed, or has no bound job.
 */
export async function queueDecision(
  tx: NodePgDatabase,
  { verdictId, run }: { verdictId: string; run: number },
  at: Date,
): Promise<void> {
  // A reader without the lock may be late, so a later decision's row stays.
  await tx.execute(sql`
    insert into ahs.settlement_check as queued (verdict_id, chain_id, run, status, attempts, not_before, checked_at)
    select id, job_chain_id, runs, 'waiting', 0, ${at}::timestamptz, ${at}::timestamptz from ahs.verdict v
    where id = ${verdictId} and runs = ${run} and job_chain_id is not null and replaced_at is null
      and not exists (select from ahs.settlement t where t.verdict_id = v.id and t.run = ${run} and t.state <> 'expired')
    on conflict (verdict_id) do update set
      run = excluded.run, status = excluded.status, reason = null, attempts = 0,
      not_before = excluded.not_before, checked_at = excluded.checked_at
    where queued.run <= excluded.run`);
}

/** Struct of a verdict for signing. Throws on a value that no evaluator accepts. */
export function messageOf(settlement: Omit<NewSettlement, "signature">): VerdictMessage {
  return verdictMessage({
    escrow: settlement.escrow,
    jobId: settlement.jobId,
    deliverable: settlement.deliverable,
    specHash: settlement.specHash,
    decision: DECISION_CODES[settlement.decision],
    score: settlement.score,
    confidenceBps: settlement.confidenceBps,
    evidenceHash: settlement.evidenceHash,
    issuedAt: BigInt(settlement.issuedAt),
    deadline: BigInt(settlement.deadline),
  });
}

/**
 * Queues the relayer's transaction of a signed verdict to its evaluator and returns its id. Each attempt with each signature has its own
 * transaction.
 */
export async function queueVerdict(
  tx: NodePgDatabase,
  relayer: Address,
  of: { id: number; attempt: number; settlement: NewSettlement },
): Promise<number> {
  const { settlement } = of;
  const functionName = settlement.decision === "HOLD" ? "hold" : "settle";
  const message = messageOf(settlement);
  return enqueueTransaction(tx, {
    chainId: settlement.chainId,
    sender: relayer,
    reference: `verdict:${of.id}:${settlement.issuedAt}:${of.attempt}`,
    purpose: functionName,
    to: settlement.evaluator,
    data: encodeFunctionData({
      abi: verdictEvaluatorAbi,
      functionName,
      args: [message.escrow, message.jobId, message, settlement.signature],
    }),
    value: 0n,
  });
}
