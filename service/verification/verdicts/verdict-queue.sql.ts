import { sql } from "drizzle-orm";
import { type Database, rowsInTime } from "../../db/database.ts";
import { toQuery } from "../../db/statement.ts";
import { FREE_CAUSES } from "./token-budget.ts";
import type { RunLease } from "./verdict-queue.ts";

// The row "panel: throughput of a worker of eight at once" of bench/results.md measures these.

/** Due at that time: pending, or leased by a worker that did not renew. */
const dueAt = (now: Date) =>
  sql`((v.status = 'pending' and v.not_before <= ${now}) or (v.status = 'processing' and v.lease_until < ${now}))`;

/** Time to a job's expiry; one that is not known, or that is over, counts as a minute. */
const secondsLeft = (now: Date) =>
  sql`greatest(60, coalesce(extract(epoch from v.expires_at - ${now}::timestamptz), 60))`;

/**
 * Leases due runs. Jobs and other outputs take turns. Of jobs the most money at stake for each second that is left comes first, then one
 * whose money is not known; of other outputs each owner has one run after the other owners had theirs. Unpaid runs come after paid
 * ones, or are left out. Rows that another worker is leasing now are skipped.
 */
export async function leaseVerdicts(
  db: Database,
  of: { now: Date; leaseUntil: Date; limit: number; withFree?: boolean },
): Promise<readonly RunLease[]> {
  const free = sql`any(${sql.param(FREE_CAUSES)}::text[])`;
  const statement = sql`with busy as (
       select owner, count(*) as runs from ahs.verdict where status = 'processing' and lease_until >= ${of.now} group by owner
     ), due as (
       select v.id, v.job_id is not null as of_job, v.cause = ${free} as free, v.not_before,
         case when v.job_id is not null then v.stake_micro_usd / ${secondsLeft(of.now)} end as urgency,
         case when v.job_id is null then coalesce(b.runs, 0)
           + row_number() over (partition by v.job_id is null, v.owner order by v.not_before, v.created_at, v.id) end as turn
       from ahs.verdict v left join busy b on b.owner = v.owner where ${dueAt(of.now)} and (${of.withFree ?? true} or not v.cause = ${free})
     ), ranked as (
       select id, of_job,
         row_number() over (partition by of_job order by free, urgency desc nulls last, turn, not_before, id) as place from due
     ), taken as (
       select v.id from ahs.verdict v join ranked r on r.id = v.id
       where ${dueAt(of.now)} order by r.place, not r.of_job limit ${of.limit} for update of v skip locked
     )
     update ahs.verdict v set status = 'processing', lease_until = ${of.leaseUntil}, attempts = v.attempts + 1,
       tried_at = coalesce(v.tried_at, ${of.now}), updated_at = ${of.now}
     from taken where v.id = taken.id
     returning v.id as "verdictId", v.runs + 1 as run, v.cause, v.retries, v.attempts, v.tried_at as "triedAt"`;
  return rowsInTime<RunLease>(db, toQuery(statement));
}

/** Postpones due unpaid runs as if they had not been tried, so the wait does not count as the run's. Returns their number. */
export async function putOffFree(db: Database, of: { now: Date; until: Date }): Promise<number> {
  const statement = sql`
     update ahs.verdict set status = 'pending', lease_until = null, not_before = ${of.until}, tried_at = null, updated_at = ${of.now}
     where id in (
       select v.id from ahs.verdict v where ${dueAt(of.now)} and v.cause = any(${sql.param(FREE_CAUSES)}::text[])
       order by v.id for update skip locked)
     returning id`;
  return (await rowsInTime(db, toQuery(statement))).length;
}

/** Counts waiting and running verdicts, and the seconds that the most overdue one has been due. */
export async function readVerdictQueue(db: Database, now: Date) {
  const statement = sql`
     select count(*) filter (where status = 'pending')::float8 as depth,
            count(*) filter (where status = 'processing')::float8 as processing,
            greatest(0, coalesce(extract(epoch from ${now}::timestamptz - min(not_before) filter (where ${dueAt(now)})), 0))::float8 as "ageSeconds"
     from ahs.verdict v where status in ('pending', 'processing')`;
  const [row] = await rowsInTime<{ depth: number; processing: number; ageSeconds: number }>(
    db,
    toQuery(statement),
  );
  return row ?? { depth: 0, processing: 0, ageSeconds: 0 };
}
