import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { viewOf } from "../../db/index-snapshot.ts";
import { settlementCheck } from "../../db/tables/settlement.ts";
import type { JobKey } from "./escrow-jobs.ts";
import type { SignedDecision } from "./settlements.ts";

/** The newest decision about a bound job without a valid signature: never signed, or expired unused. */
export type UnsignedDecision = {
  readonly verdictId: string;
  readonly run: number;
  readonly specId: string;
  readonly job: JobKey;
  readonly decision: SignedDecision;
  readonly outputHash: Hex;
  readonly specHash: Hex;
  readonly evidenceHash: Hex;
  /** As in the signed struct: 0, like the confidence, for a review without a panel score. */
  readonly score: number;
  readonly confidenceBps: number;
  /** Models of the decision. */
  readonly models: readonly string[];
  /** Number of checks without a signature. */
  readonly attempts: number;
  /** The expired signature and its deadline in Unix seconds; null if it was never signed. */
  readonly earlier: { readonly settlementId: number; readonly deadline: number } | null;
};

/**
 * Reads due decisions about bound jobs: newest ones of their verdict, unsigned, and not known as unsignable. A decision that waits for a
 * submission is also due when the index shows one, or the job's end. Throws without an index of the escrows.
 */
export async function readUnsigned(
  db: NodePgDatabase,
  of: { readonly chainId: number; readonly now: Date; readonly limit: number },
): Promise<UnsignedDecision[]> {
  const { rows } = await db.execute<UnsignedRow>(sql`
    select v.id, v.runs, v.spec_id, v.job_chain_id, v.job_escrow, v.job_id, v.output_hash, s.spec_hash,
      r.final_verdict, r.evidence_hash, coalesce((r.result ->> 'final_score')::int, 0) as score,
      coalesce(round((r.result ->> 'confidence')::numeric * 10000)::int, 0) as confidence_bps,
      r.result -> 'methodology' -> 'models' as models, c.attempts,
      t.id as settlement_id, t.deadline
    from (${dueOf(of)}) c
    join ahs.verdict v on v.id = c.verdict_id
    join ahs.job_spec s on s.id = v.spec_id
    join ahs.verdict_run r on r.verdict_id = v.id and r.run = v.runs
    left join ahs.settlement t on t.verdict_id = v.id and t.run = v.runs
    order by c.not_before limit ${of.limit}`);
  return rows.map((row) => ({
    verdictId: row.id,
    run: row.runs,
    specId: row.spec_id,
    job: { chainId: row.job_chain_id, escrow: row.job_escrow, jobId: BigInt(row.job_id) },
    decision: row.final_verdict,
    outputHash: row.output_hash,
    specHash: row.spec_hash,
    evidenceHash: row.evidence_hash,
    score: row.score,
    confidenceBps: row.confidence_bps,
    models: Object.values(row.models),
    attempts: row.attempts,
    earlier:
      row.settlement_id === null || row.deadline === null
        ? null
        : { settlementId: Number(row.settlement_id), deadline: Number(row.deadline) },
  }));
}

/** Two queries with an index each. One query with `or` would read every waiting decision. */
const dueOf = (of: { readonly chainId: number; readonly now: Date; readonly limit: number }) => sql`
  (${queued(of.chainId)} and c.not_before <= ${of.now} order by c.not_before limit ${of.limit})
  union
  (${queued(of.chainId)} and c.not_before is not null and c.status = 'waiting_for_submission'
    and exists (select from ${viewOf(of.chainId, "job")} j where j.id = v.job_escrow || ':' || v.job_id
      and (j.submitted_block is not null or j.ended_block is not null))
    order by c.not_before limit ${of.limit})`;

const queued = (chainId: number) => sql`
  select c.verdict_id, c.attempts, c.not_before
  from ahs.settlement_check c
  join ahs.verdict v on v.id = c.verdict_id and v.runs = c.run and v.replaced_at is null
  where c.chain_id = ${chainId} and not exists (
    select from ahs.settlement t where t.verdict_id = c.verdict_id and t.run = c.run and t.state <> 'expired')`;

/** Status of a decision that may still be signed; `waiting`: not checked yet. */
export type WaitStatus = "waiting" | CheckStatus;

/** Reads the time of the oldest decision that may still be signed, by status; a status without decisions has no entry. */
export async function readOldestUnsigned(
  db: NodePgDatabase,
  chainId: number,
): Promise<ReadonlyMap<WaitStatus, Date>> {
  const { rows } = await db.execute<{ status: WaitStatus; oldest: Date | string }>(sql`
    select c.status, min(r.created_at) as oldest
    from ahs.settlement_check c join ahs.verdict_run r on r.verdict_id = c.verdict_id and r.run = c.run
    where c.chain_id = ${chainId} and c.not_before is not null
    group by c.status`);
  return new Map(rows.map(({ status, oldest }) => [status, new Date(oldest)]));
}

/** True if a decision is still its verdict's newest; then it is locked until the database transaction ends. */
export async function takeDecision(
  tx: NodePgDatabase,
  { verdictId, run }: { readonly verdictId: string; readonly run: number },
): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select 1 from ahs.verdict where id = ${verdictId} and runs = ${run} and replaced_at is null for update`);
  return rows.length === 1;
}

/** Why a decision is not signed, as a verdict's response shows it. held: its job is on HOLD without a signature. */
export type CheckStatus =
  | "waiting_for_submission"
  | "waiting_for_finality"
  | "suspended"
  | "unbound"
  | "held"
  | "refused"
  | "expired";

export type NewCheck = {
  readonly verdictId: string;
  readonly chainId: number;
  readonly run: number;
  readonly status: CheckStatus;
  readonly reason: string;
  readonly attempts: number;
  /** Null: never checked again. */
  readonly notBefore: Date | null;
  readonly checkedAt: Date;
};

/** Stores why a decision was not signed, in place of the earlier reason. */
export async function noteCheck(db: NodePgDatabase, check: NewCheck): Promise<void> {
  const { verdictId: _, ...set } = check;
  await db
    .insert(settlementCheck)
    .values(check)
    .onConflictDoUpdate({ target: settlementCheck.verdictId, set });
}

/** Deletes the stored reason of an unsigned decision. */
export async function dropCheck(tx: NodePgDatabase, verdictId: string): Promise<void> {
  await tx.execute(sql`delete from ahs.settlement_check where verdict_id = ${verdictId}`);
}

type UnsignedRow = {
  id: string;
  runs: number;
  spec_id: string;
  job_chain_id: number;
  job_escrow: Address;
  job_id: string;
  output_hash: Hex;
  spec_hash: Hex;
  final_verdict: SignedDecision;
  evidence_hash: Hex;
  score: number;
  confidence_bps: number;
  models: Readonly<Record<string, string>>;
  attempts: number;
  settlement_id: string | null;
  deadline: string | null;
};
