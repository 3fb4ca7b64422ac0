import { and, eq, isNotNull, isNull, min, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { indexOf } from "../../db/index-tables.ts";
import { settlement, settlementCheck } from "../../db/tables/settlement.ts";
import { jobSpec, verdict, verdictRun } from "../../db/tables/verdict.ts";
import { lockVerdict } from "../verdicts/lock-verdict.ts";
import { jobIdOf } from "./escrow-jobs.ts";
import { JOB_COLUMNS, jobOf } from "./types.ts";

/**
 * The newest decision about a bound job without a valid signature: never signed, or expired unused. Score and confidence are as in the
 * signed struct: 0 for a review without a panel score. `attempts` counts checks without a signature, `earlier` is the expired one.
 */
export type UnsignedDecision = Awaited<ReturnType<typeof readUnsigned>>[number];

/**
 * Reads due decisions about bound jobs: newest ones of their verdict, unsigned, and not known as unsignable. A decision that waits for a
 * submission is also due when the index shows one, or the job's end. Throws without an index of the escrows.
 */
export async function readUnsigned(db: NodePgDatabase, of: { chainId: number; now: Date; limit: number }) {
  const { result } = verdictRun;
  const rows = await db
    .select({
      verdictId: verdict.id,
      run: verdict.runs,
      specId: verdict.specId,
      ...JOB_COLUMNS,
      decision: verdictRun.finalVerdict,
      cause: verdictRun.cause,
      outputHash: verdict.outputHash,
      specHash: jobSpec.specHash,
      evidenceHash: verdictRun.evidenceHash,
      score: sql<number>`coalesce((${result} ->> 'final_score')::int, 0)`,
      confidenceBps: sql<number>`coalesce(round((${result} ->> 'confidence')::numeric * 10000)::int, 0)`,
      models: sql<Readonly<Record<string, string>>>`${result} -> 'methodology' -> 'models'`,
      attempts: sql<number>`c.attempts`,
      earlier: { settlementId: settlement.id, deadline: settlement.deadline },
    })
    .from(sql`(${dueOf(of)}) c`)
    .innerJoin(verdict, sql`${verdict.id} = c.verdict_id`)
    .innerJoin(jobSpec, eq(jobSpec.id, verdict.specId))
    .innerJoin(verdictRun, and(eq(verdictRun.verdictId, verdict.id), eq(verdictRun.run, verdict.runs)))
    .leftJoin(settlement, and(eq(settlement.verdictId, verdict.id), eq(settlement.run, verdict.runs)))
    .orderBy(sql`c.not_before`)
    .limit(of.limit);
  return rows.flatMap(({ jobChainId, jobEscrow, jobId, models, ...decision }) => {
    const job = jobOf({ jobChainId, jobEscrow, jobId });
    return job === null ? [] : [{ ...decision, job, models: Object.values(models) }];
  });
}

/** Two queries with an index each. One query with `or` would read every waiting decision. */
function dueOf(of: Parameters<typeof readUnsigned>[1]) {
  const { job } = indexOf(of.chainId);
  return sql`
  (${queued(of.chainId)} and c.not_before <= ${of.now} order by c.not_before limit ${of.limit})
  union
  (${queued(of.chainId)} and c.not_before is not null and c.status = 'waiting_for_submission'
    and exists (select from ${job} where ${job.id} = ${jobIdOf(sql`v.job_escrow`, sql`v.job_id`)}
      and (${job.submittedBlock} is not null or ${job.endedBlock} is not null))
    order by c.not_before limit ${of.limit})`;
}

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
  const oldest = await db
    .select({ status: sql<WaitStatus>`${settlementCheck.status}`, at: min(verdictRun.createdAt) })
    .from(settlementCheck)
    .innerJoin(
      verdictRun,
      and(eq(verdictRun.verdictId, settlementCheck.verdictId), eq(verdictRun.run, settlementCheck.run)),
    )
    .where(and(eq(settlementCheck.chainId, chainId), isNotNull(settlementCheck.notBefore)))
    .groupBy(settlementCheck.status);
  return new Map(oldest.flatMap(({ status, at }) => (at === null ? [] : [[status, at] as const])));
}

/** True if a decision is still its verdict's newest; then it is locked until the database transaction ends. */
export function takeDecision(
  tx: NodePgDatabase,
  { verdictId, run }: { verdictId: string; run: number },
): Promise<boolean> {
  return lockVerdict(tx, verdictId, eq(verdict.runs, run), isNull(verdict.replacedAt));
}

/**
 * Why a decision is not signed, as a verdict's response shows it. appealable: it may be appealed still. appealed: a second panel judges.
 * held: its job is on HOLD without a signature.
 */
export type CheckStatus =
  | "appealable"
  | "appealed"
  | "waiting_for_submission"
  | "waiting_for_finality"
  | "suspended"
  | "unbound"
  | "held"
  | "refused"
  | "expired";

/** Stores why a decision was not signed, in place of the earlier reason. */
export async function noteCheck(
  db: NodePgDatabase,
  check: typeof settlementCheck.$inferInsert & { status: CheckStatus },
): Promise<void> {
  const { verdictId: _, ...set } = check;
  await db
    .insert(settlementCheck)
    .values(check)
    .onConflictDoUpdate({ target: settlementCheck.verdictId, set });
}

export async function dropCheck(tx: NodePgDatabase, verdictId: string): Promise<void> {
  await tx.delete(settlementCheck).where(eq(settlementCheck.verdictId, verdictId));
}
