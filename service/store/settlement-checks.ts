import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import type { JobKey } from "./escrow-jobs.ts";
import type { SignedDecision } from "./settlements.ts";
import { settlementCheck } from "./tables/verdict.ts";

/** The newest decision about a bound job, which is not signed. */
export type UnsignedDecision = {
  readonly verdictId: string;
  readonly run: number;
  readonly specId: string;
  readonly job: JobKey;
  readonly decision: SignedDecision;
  readonly outputHash: Hex;
  readonly specHash: Hex;
  readonly evidenceHash: Hex;
  readonly score: number;
  readonly confidenceBps: number;
  /** Those that the decision was made by. */
  readonly models: readonly string[];
  /** How often it was looked at and not signed. */
  readonly attempts: number;
};

/** Newest decisions about bound jobs of the chain that are neither signed nor, as far as is known, beyond signing, and due. */
export async function readUnsigned(
  db: NodePgDatabase,
  of: { readonly chainId: number; readonly now: Date; readonly limit: number },
): Promise<UnsignedDecision[]> {
  const { rows } = await db.execute<UnsignedRow>(sql`
    select v.id, v.runs, v.spec_id, v.job_chain_id, v.job_escrow, v.job_id, v.output_hash, s.spec_hash,
      r.final_verdict, r.evidence_hash, (r.result ->> 'final_score')::int as score,
      round((r.result ->> 'confidence')::numeric * 10000)::int as confidence_bps,
      r.result -> 'methodology' -> 'models' as models, coalesce(c.attempts, 0) as attempts
    from ahs.verdict v
    join ahs.job_spec s on s.id = v.spec_id
    join ahs.verdict_run r on r.verdict_id = v.id and r.run = v.runs
    left join ahs.settlement_check c on c.verdict_id = v.id and c.run = v.runs
    where v.job_chain_id = ${of.chainId} and v.replaced_at is null
      and (c.verdict_id is null or c.not_before <= ${of.now})
      and not exists (select from ahs.settlement t where t.verdict_id = v.id and t.run = v.runs)
    order by coalesce(c.not_before, r.created_at) limit ${of.limit}`);
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
  }));
}

/** Whether a decision is still its verdict's newest; where it is, it stays so until the transaction ends. */
export async function takeDecision(
  tx: NodePgDatabase,
  { verdictId, run }: { readonly verdictId: string; readonly run: number },
): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select 1 from ahs.verdict where id = ${verdictId} and runs = ${run} and replaced_at is null for update`);
  return rows.length === 1;
}

/** Why a decision is not signed: as a verdict's answer tells it. */
export type CheckStatus =
  | "waiting_for_submission"
  | "waiting_for_finality"
  | "suspended"
  | "unbound"
  | "refused"
  | "expired";

export type NewCheck = {
  readonly verdictId: string;
  readonly chainId: number;
  readonly run: number;
  readonly status: CheckStatus;
  readonly reason: string;
  readonly attempts: number;
  /** Null: never again. */
  readonly notBefore: Date | null;
  readonly checkedAt: Date;
};

/** Notes why a decision was not signed, in the place of what was noted before. */
export async function noteCheck(db: NodePgDatabase, check: NewCheck): Promise<void> {
  const { verdictId: _, ...set } = check;
  await db
    .insert(settlementCheck)
    .values(check)
    .onConflictDoUpdate({ target: settlementCheck.verdictId, set });
}

/** Forgets why a verdict's decisions were not signed. */
export async function dropCheck(tx: NodePgDatabase, verdictId: string): Promise<void> {
  await tx.execute(sql`delete from ahs.settlement_check where verdict_id = ${verdictId}`);
}

type UnsignedRow = {
  id: string;
  runs: number;
  spec_id: string;
  job_chain_id: number;
  job_escrow: string;
  job_id: string;
  output_hash: Hex;
  spec_hash: Hex;
  final_verdict: SignedDecision;
  evidence_hash: Hex;
  score: number;
  confidence_bps: number;
  models: Readonly<Record<string, string>>;
  attempts: number;
};
