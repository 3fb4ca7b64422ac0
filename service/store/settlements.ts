import { and, eq, ne, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { JobKey } from "./escrow-jobs.ts";
import type { SenderState } from "./tables/publish.ts";
import { type SettlementState, settlement } from "./tables/verdict.ts";

export type SignedDecision = "ALLOW" | "HOLD" | "REJECT";

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
 * Keeps the job to this transaction, so that no other one signs for it meanwhile, and answers whether a verdict that ends
 * it was signed before.
 */
export async function takeJob(tx: NodePgDatabase, { chainId, escrow, jobId }: JobKey): Promise<boolean> {
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
  return signed.length > 0;
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
  readonly transactionHash?: string;
  readonly error?: string | null;
};

/** Changes a signed verdict whose fate is open; false where it is open no more, or has been sent again since it was read. */
export async function patchSettlement(
  tx: NodePgDatabase,
  of: { readonly id: number; readonly attempts: number },
  { patch, now }: { readonly patch: SettlementPatch; readonly now: Date },
): Promise<boolean> {
  const changed = await tx
    .update(settlement)
    .set({ ...patch, updatedAt: now })
    .where(
      and(eq(settlement.id, of.id), eq(settlement.state, "signed"), eq(settlement.attempts, of.attempts)),
    )
    .returning({ id: settlement.id });
  return changed.length > 0;
}

/** How many signed verdicts are in each state, and for how many seconds the oldest open one has been. */
export async function countSettlements(
  db: NodePgDatabase,
  chainId: number,
  now: Date,
): Promise<{
  readonly byState: Readonly<Record<SettlementState, number>>;
  readonly oldestOpenSeconds: number;
}> {
  const { rows } = await db.execute<{ state: SettlementState; count: number; oldest: Date | string }>(sql`
    select state, count(*)::int as count, min(created_at) as oldest
    from ahs.settlement where chain_id = ${chainId} group by state`);
  const byState = { signed: 0, confirmed: 0, refused: 0, expired: 0 };
  for (const row of rows) byState[row.state] = row.count;
  const open = rows.find(({ state }) => state === "signed");
  const oldestMs = open === undefined ? now.getTime() : new Date(open.oldest).getTime();
  return { byState, oldestOpenSeconds: Math.max(0, (now.getTime() - oldestMs) / 1000) };
}

type OpenRow = {
  id: string;
  chain_id: number;
  escrow: string;
  job_id: string;
  verdict_id: string;
  run: number;
  decision: SignedDecision;
  deliverable: string;
  spec_hash: string;
  score: number;
  confidence_bps: number;
  evidence_hash: string;
  issued_at: string;
  deadline: string;
  signer: string;
  signature: string;
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
    decision: row.decision,
    deliverable: row.deliverable,
    specHash: row.spec_hash,
    score: row.score,
    confidenceBps: row.confidence_bps,
    evidenceHash: row.evidence_hash,
    issuedAt: Number(row.issued_at),
    deadline: Number(row.deadline),
    signer: row.signer,
    signature: row.signature,
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
