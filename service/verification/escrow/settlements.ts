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

/** A verdict as it was signed. */
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

/** What became of the transaction that carries a signed verdict. */
export type SettlementCarrier = {
  readonly state: SenderState;
  readonly final: boolean;
  readonly minedBlock: number | null;
  readonly failure: string | null;
  readonly error: string | null;
  readonly revertData: string | null;
  readonly updatedAt: Date;
};

/** A signed verdict that is not known to have been carried out. */
export type OpenSettlement = NewSettlement & {
  readonly id: number;
  readonly attempts: number;
  /** Null before its first transaction, and once a reset took it. */
  readonly carrier: SettlementCarrier | null;
};

/**
 * Keeps the job to this transaction, so that no other one signs for it meanwhile, and answers the id of the verdict that was signed
 * to end it; null where none was.
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

/** Adds a signed verdict and answers its id; throws on a second one of a run, and on a second terminal one of a job. */
export async function insertSettlement(tx: NodePgDatabase, row: NewSettlement, now: Date): Promise<number> {
  const [inserted] = await tx
    .insert(settlement)
    .values({ ...row, state: "signed", createdAt: now, updatedAt: now })
    .returning({ id: settlement.id });
  if (inserted === undefined) throw new Error("an insert answers its row");
  return inserted.id;
}

/**
 * Puts a new signature of the same verdict in the place of one that ran out, with no attempt yet; false where that is not what the
 * row holds. Whoever calls it knows that the old one can be used no more.
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

/** Signed verdicts whose fate is open, oldest first, each with its newest transaction. */
export async function readOpenSettlements(db: NodePgDatabase, chainId: number): Promise<OpenSettlement[]> {
  const { rows } = await db.execute<OpenRow>(sql`
    select s.*, t.state as carrier_state, t.final as carrier_final, t.mined_block as carrier_block,
      t.failure as carrier_failure, t.error as carrier_error, t.revert_data as carrier_revert,
      t.updated_at as carrier_updated_at
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
 * Changes a signed verdict whose fate is open, and has its decision looked at again where its signature ran out; false where it is
 * open no more, or has been sent or signed again since it was read.
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

/** How many signed verdicts are open, and for how many seconds the oldest has been; what was settled long ago is not read. */
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
  carrier_state: SenderState | null;
  carrier_final: boolean | null;
  carrier_block: string | null;
  carrier_failure: string | null;
  carrier_error: string | null;
  carrier_revert: string | null;
  carrier_updated_at: Date | string | null;
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
    carrier: carrierOf(row),
  };
}

function carrierOf(row: OpenRow): SettlementCarrier | null {
  const { carrier_state: state, carrier_final: final, carrier_updated_at: updatedAt } = row;
  if (state === null || final === null || updatedAt === null) return null;
  return {
    state,
    final,
    minedBlock: row.carrier_block === null ? null : Number(row.carrier_block),
    failure: row.carrier_failure,
    error: row.carrier_error,
    revertData: row.carrier_revert,
    updatedAt: new Date(updatedAt),
  };
}

/** When the signature ends that a transaction brings to its evaluator, in Unix seconds; null where it brings none. */
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

/** A verdict as it was signed: what anyone can bring to its evaluator until the deadline; addresses in lower case. */
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

/** Columns of a settlement that were signed; int8 arrives as text. */
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

/** A decision by its row of verdict_run. */
type QueuedDecision = { readonly verdictId: string; readonly run: number };

/**
 * Has the newest decision on a bound job looked at from now on, to be signed, in the transaction that makes it the newest or ends
 * its signature. Nothing where it is not the newest, or is bound to no job.
 */
export async function queueDecision(
  tx: NodePgDatabase,
  { verdictId, run }: QueuedDecision,
  at: Date,
): Promise<void> {
  // Whoever reads the newest run without its lock may be late: a later decision's row stays.
  await tx.execute(sql`
    insert into ahs.settlement_check as queued (verdict_id, chain_id, run, status, attempts, not_before, checked_at)
    select id, job_chain_id, runs, 'waiting', 0, ${at}::timestamptz, ${at}::timestamptz from ahs.verdict
    where id = ${verdictId} and runs = ${run} and job_chain_id is not null and replaced_at is null
    on conflict (verdict_id) do update set
      run = excluded.run, status = excluded.status, reason = null, attempts = 0,
      not_before = excluded.not_before, checked_at = excluded.checked_at
    where queued.run <= excluded.run`);
}

/** The struct of a signed verdict, or of one to be signed; throws on a value that no evaluator would take. */
export function messageOf(settlement: Omit<NewSettlement, "signature">): VerdictMessage {
  return verdictMessage({
    // Typed when they were read; text columns forget it.
    escrow: settlement.escrow as Address,
    jobId: settlement.jobId,
    deliverable: settlement.deliverable as Hex,
    specHash: settlement.specHash as Hex,
    decision: DECISION_CODES[settlement.decision],
    score: settlement.score,
    confidenceBps: settlement.confidenceBps,
    evidenceHash: settlement.evidenceHash as Hex,
    issuedAt: BigInt(settlement.issuedAt),
    deadline: BigInt(settlement.deadline),
  });
}

/**
 * Queues the relayer's transaction that brings a signed verdict to its evaluator, and answers its id; each attempt with each
 * signature is one of its own.
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
    // Typed when it was signed; text columns forget it.
    to: settlement.evaluator as Address,
    data: encodeFunctionData({
      abi: verdictEvaluatorAbi,
      functionName,
      args: [message.escrow, message.jobId, message, settlement.signature as Hex],
    }),
    value: 0n,
  });
}
