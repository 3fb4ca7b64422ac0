import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";

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
