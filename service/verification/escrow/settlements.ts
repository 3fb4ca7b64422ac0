import { and, eq, lt, ne, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { verdictEvaluatorAbi } from "../../chain/abi/verdict-evaluator.ts";
import { type VerdictMessage, verdictMessage } from "../../chain/verdict-codec.ts";
import type { SenderState } from "../../db/tables/publish.ts";
import { type SettlementState, settlement } from "../../db/tables/settlement.ts";
import { enqueueTransaction } from "../../sender/sender-transactions.ts";
import type { JobKey } from "./escrow-jobs.ts";
import { DECISION_CODES } from "./types.ts";

/** A signed verdict to insert. */
export type NewSettlement = Pick<
  typeof settlement.$inferInsert,
  | "chainId"
  | "escrow"
  | "jobId"
  | "verdictId"
  | "run"
  | "decision"
  | "deliverable"
  | "specHash"
  | "score"
  | "confidenceBps"
  | "evidenceHash"
  | "issuedAt"
  | "deadline"
  | "evaluator"
  | "signer"
  | "signature"
>;

/** State of the transaction of a signed verdict. */
export type SettlementTransaction = {
  readonly state: SenderState;
  readonly final: boolean;
  readonly minedBlock: number | null;
  readonly failure: string | null;
  readonly error: string | null;
  readonly revertData: string | null;
  readonly updatedAt: Date;
};

/** A signed verdict that is not confirmed. */
export type OpenSettlement = NewSettlement & {
  readonly id: number;
  readonly attempts: number;
  /** Null before its first transaction and after a reset. */
  readonly transaction: SettlementTransaction | null;
};

/**
 * Locks a job for this database transaction, so that no other one signs for it, and returns the id of its signed terminal verdict; null
 * without one.
 */
export async function takeJob(
  tx: NodePgDatabase,
  { chainId, escrow, jobId }: JobKey,
): Promise<number | null> {
  const name = `ahs-job:${chainId}:${escrow}:${jobId}`;
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
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

/**
 * Replaces an expired signature of a verdict by a new one without attempts; false if the row does not match. The caller knows that the old
 * signature is unusable.
 */
export async function renewSettlement(
  tx: NodePgDatabase,
  of: { readonly id: number; readonly row: NewSettlement },
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
        eq(settlement.chainId, same.chainId),
        eq(settlement.escrow, same.escrow),
        eq(settlement.jobId, same.jobId),
        eq(settlement.verdictId, same.verdictId),
        eq(settlement.run, same.run),
        eq(settlement.decision, same.decision),
        eq(settlement.evidenceHash, same.evidenceHash),
        eq(settlement.deliverable, same.deliverable),
      ),
    )
    .returning({ id: settlement.id });
  return renewed.length > 0;
}

/** Reads open signed verdicts, oldest first, each with its newest transaction. */
export async function readOpenSettlements(db: NodePgDatabase, chainId: number): Promise<OpenSettlement[]> {
  const { rows } = await db.execute<OpenRow>(sql`
    select s.*, t.state as transaction_state, t.final as transaction_final, t.mined_block as transaction_block,
      t.failure as transaction_failure, t.error as transaction_error, t.revert_data as transaction_revert,
      t.updated_at as transaction_updated_at
    from ahs.settlement s left join ahs.sender_transaction t on t.id = s.sender_transaction_id
    where s.chain_id = ${chainId} and s.state = 'signed' order by s.id`);
  return rows.map(openOf);
}

export type SettlementPatch = {
  readonly state?: SettlementState;
  readonly senderTransactionId?: number;
  readonly attempts?: number;
  readonly transactionHash?: Hex;
  readonly error?: string | null;
};

/**
 * Changes an open signed verdict, and queues its decision again if its signature expired. False if it is not open any more, or was sent or
 * signed again since it was read.
 */
export async function patchSettlement(
  tx: NodePgDatabase,
  of: { readonly id: number; readonly issuedAt: number; readonly attempts: number },
  { patch, now }: { readonly patch: SettlementPatch; readonly now: Date },
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
export async function countOpenSettlements(
  db: NodePgDatabase,
  chainId: number,
  now: Date,
): Promise<{ readonly open: number; readonly oldestOpenSeconds: number }> {
  const { rows } = await db.execute<{ open: number; oldest: Date | string | null }>(sql`
    select count(*)::int as open, min(created_at) as oldest
    from ahs.settlement where chain_id = ${chainId} and state = 'signed'`);
  const [row] = rows;
  if (row === undefined) throw new Error("a count answers one row");
  const oldestMs = row.oldest === null ? now.getTime() : new Date(row.oldest).getTime();
  return { open: row.open, oldestOpenSeconds: Math.max(0, (now.getTime() - oldestMs) / 1000) };
}

type OpenRow = SignedColumns & {
  id: string;
  chain_id: number;
  escrow: Address;
  job_id: string;
  verdict_id: string;
  run: number;
  attempts: number;
  transaction_state: SenderState | null;
  transaction_final: boolean | null;
  transaction_block: string | null;
  transaction_failure: string | null;
  transaction_error: string | null;
  transaction_revert: string | null;
  transaction_updated_at: Date | string | null;
};

function openOf(row: OpenRow): OpenSettlement {
  return {
    id: Number(row.id),
    chainId: row.chain_id,
    escrow: row.escrow,
    jobId: BigInt(row.job_id),
    verdictId: row.verdict_id,
    run: row.run,
    ...signedOf(row),
    attempts: row.attempts,
    transaction: transactionOf(row),
  };
}

function transactionOf(row: OpenRow): SettlementTransaction | null {
  const { transaction_state: state, transaction_final: final, transaction_updated_at: updatedAt } = row;
  if (state === null || final === null || updatedAt === null) return null;
  return {
    state,
    final,
    minedBlock: row.transaction_block === null ? null : Number(row.transaction_block),
    failure: row.transaction_failure,
    error: row.transaction_error,
    revertData: row.transaction_revert,
    updatedAt: new Date(updatedAt),
  };
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

export type SignedDecision = "ALLOW" | "HOLD" | "REJECT";

/** A signed verdict, which anyone can send to its evaluator until the deadline; addresses in lower case. */
export type SignedVerdict = {
  readonly decision: SignedDecision;
  readonly deliverable: Hex;
  readonly specHash: Hex;
  readonly score: number;
  readonly confidenceBps: number;
  readonly evidenceHash: Hex;
  /** Unix seconds, as the deadline. */
  readonly issuedAt: number;
  readonly deadline: number;
  readonly evaluator: Address;
  readonly signer: Address;
  readonly signature: Hex;
};

/** Signed columns of a settlement; the driver returns int8 as text. */
export type SignedColumns = {
  readonly decision: SignedDecision;
  readonly deliverable: Hex;
  readonly spec_hash: Hex;
  readonly score: number;
  readonly confidence_bps: number;
  readonly evidence_hash: Hex;
  readonly issued_at: string;
  readonly deadline: string;
  readonly evaluator: Address;
  readonly signer: Address;
  readonly signature: Hex;
};

/** The signed part of a row. */
export function signedOf(row: SignedColumns): SignedVerdict {
  return {
    decision: row.decision,
    deliverable: row.deliverable,
    specHash: row.spec_hash,
    score: row.score,
    confidenceBps: row.confidence_bps,
    evidenceHash: row.evidence_hash,
    issuedAt: Number(row.issued_at),
    deadline: Number(row.deadline),
    evaluator: row.evaluator,
    signer: row.signer,
    signature: row.signature,
  };
}

/** Key of a decision in verdict_run. */
type QueuedDecision = { readonly verdictId: string; readonly run: number };

/**
 * Queues the newest decision about a bound job for signing, in the database transaction that makes it the newest or ends its signature.
 * Does nothing if it is not the newest or has no bound job.
 */
export async function queueDecision(
  tx: NodePgDatabase,
  { verdictId, run }: QueuedDecision,
  at: Date,
): Promise<void> {
  // A reader without the lock may be late, so a later decision's row stays.
  await tx.execute(sql`
    insert into ahs.settlement_check as queued (verdict_id, chain_id, run, status, attempts, not_before, checked_at)
    select id, job_chain_id, runs, 'waiting', 0, ${at}::timestamptz, ${at}::timestamptz from ahs.verdict
    where id = ${verdictId} and runs = ${run} and job_chain_id is not null and replaced_at is null
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
  of: { readonly id: number; readonly attempt: number; readonly settlement: NewSettlement },
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
