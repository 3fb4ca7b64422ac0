import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { VerdictStatus } from "../../db/tables/verdict.ts";

/** What decides whether a verdict may be retried. */
export type RetryStanding = {
  /** key:ID or wallet:ADDRESS. */
  readonly owner: string;
  /** Client and provider of the job that it is of, in lower case; empty where it is of none. */
  readonly parties: readonly string[];
  readonly status: VerdictStatus;
  readonly runs: number;
  readonly retries: number;
  readonly units: number;
  readonly debitId: string | null;
  /** Another verdict has taken its slot. */
  readonly isReplaced: boolean;
  /** Its text is still kept, and so is its specification's. */
  readonly hasTexts: boolean;
};

type StandingRow = {
  readonly owner: string;
  readonly parties: readonly string[];
  readonly status: VerdictStatus;
  readonly runs: number;
  readonly retries: number;
  readonly units: number;
  readonly debit_id: string | null;
  readonly replaced: boolean;
  readonly has_texts: boolean;
};

/** A verdict that stays as it is until the transaction ends; null where there is none that anybody may see. */
export async function takeForRetry(tx: NodePgDatabase, verdictId: string): Promise<RetryStanding | null> {
  const { rows } = await tx.execute<StandingRow>(sql`
    select v.owner, v.status, v.runs, v.retries, v.units, v.debit_id, v.replaced_at is not null as replaced,
      case when v.job_id is null then '{}'::text[]
        else array[v.provider_addr, (select s.client_addr from ahs.job_spec s where s.id = v.spec_id)] end as parties,
      exists (select from ahs.output_text o where o.verdict_id = v.id)
        and exists (select from ahs.job_spec s where s.id = v.spec_id and s.spec_text is not null) as has_texts
    from ahs.verdict v where v.id = ${verdictId} and v.status <> 'unsettled' for update of v`);
  const [row] = rows;
  if (row === undefined) return null;
  const { debit_id: debitId, replaced: isReplaced, has_texts: hasTexts, ...standing } = row;
  return { ...standing, debitId, isReplaced, hasTexts };
}

/** Whether a verdict of a job has failed without a decision and holds its slot; where so, it stays so until the transaction ends. */
export async function takeFailedOfJob(tx: NodePgDatabase, verdictId: string): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select 1 from ahs.verdict
    where id = ${verdictId} and status = 'failed' and runs = 0 and job_id is not null and replaced_at is null for update`);
  return rows.length === 1;
}

/** Queues a failed verdict again, as a retry. */
export async function queueRetry(tx: NodePgDatabase, verdictId: string, at: Date): Promise<void> {
  await tx.execute(sql`
    update ahs.verdict set status = 'pending', cause = 'retried', retries = retries + 1, attempts = 0, tried_at = null,
      not_before = ${at}, lease_until = null, error_message = null, updated_at = ${at}
    where id = ${verdictId}`);
}
