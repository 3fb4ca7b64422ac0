import { setTimeout as sleep } from "node:timers/promises";
import { type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { PoolClient } from "pg";
import type { Logger } from "pino";
import type { Database } from "../../db/database.ts";
import { QUERY_DEADLINE } from "../../db/database.ts";
import { pauseFor, runLoop } from "../../db/run-loop.ts";
import type { RunCause } from "../../db/tables/verdict.ts";
import { FREE_CAUSES } from "./token-budget.ts";

/** Notifies the workers of a due verdict when the database transaction commits. */
export async function wakeWorkers(tx: NodePgDatabase): Promise<void> {
  await tx.execute(sql`select pg_notify(${VERDICT_CHANNEL}, '')`);
}

/**
 * A worker's right to run a verdict. Two leases of a verdict always differ in run, cause, retries or attempts, so a late worker's writes can
 * be refused. `attempts` includes this one; `triedAt` is the start of the first.
 */
export type RunLease = {
  verdictId: string;
  run: number;
  cause: RunCause;
  retries: number;
  attempts: number;
  triedAt: Date;
};

/** Due at $1: pending, or leased by a worker that did not renew. */
const DUE = `((v.status = 'pending' and v.not_before <= $1) or (v.status = 'processing' and v.lease_until < $1))`;

/**
 * Leases due runs. Jobs and other outputs take turns. Of jobs the most money at stake for each second that is left comes first, then one
 * whose money is not known; of other outputs each owner has one run after the other owners had theirs. Unpaid runs come after paid
 * ones, or are left out. Rows that another worker is leasing now are skipped.
 */
export async function leaseVerdicts(
  db: Database,
  of: { now: Date; leaseUntil: Date; limit: number; withFree?: boolean },
): Promise<readonly RunLease[]> {
  const { rows } = await db.$client.query<RunLease>({
    ...QUERY_DEADLINE,
    text: `with busy as (
       select owner, count(*) as runs from ahs.verdict where status = 'processing' and lease_until >= $1 group by owner
     ), due as (
       select v.id, v.job_id is not null as of_job, v.cause = any($4) as free, v.not_before,
         case when v.job_id is not null then v.stake_micro_usd / ${SECONDS_LEFT} end as urgency,
         case when v.job_id is null then coalesce(b.runs, 0)
           + row_number() over (partition by v.job_id is null, v.owner order by v.not_before, v.created_at, v.id) end as turn
       from ahs.verdict v left join busy b on b.owner = v.owner where ${DUE} and ($5 or v.cause <> all($4))
     ), ranked as (
       select id, of_job,
         row_number() over (partition by of_job order by free, urgency desc nulls last, turn, not_before, id) as place from due
     ), taken as (
       select v.id from ahs.verdict v join ranked r on r.id = v.id
       where ${DUE} order by r.place, not r.of_job limit $3 for update of v skip locked
     )
     update ahs.verdict v set status = 'processing', lease_until = $2, attempts = v.attempts + 1,
       tried_at = coalesce(v.tried_at, $1), updated_at = $1
     from taken where v.id = taken.id
     returning v.id as "verdictId", v.runs + 1 as run, v.cause, v.retries, v.attempts, v.tried_at as "triedAt"`,
    values: [of.now, of.leaseUntil, of.limit, FREE_CAUSES, of.withFree ?? true],
  });
  return rows;
}

/** Time to a job's expiry; one that is not known, or that is over, counts as a minute. */
const SECONDS_LEFT = "greatest(60, coalesce(extract(epoch from v.expires_at - $1), 60))";

/** Condition that is true while no other worker has taken the lease, even after its end. */
export function isLeasedBy(lease: RunLease): SQL {
  return sql`id = ${lease.verdictId} and status = 'processing' and runs = ${lease.run - 1} and cause = ${lease.cause}
    and retries = ${lease.retries} and attempts = ${lease.attempts}`;
}

/** Renews a lease; false if another worker has it, or the run is over. */
export async function renewLease(db: Database, lease: RunLease, leaseUntil: Date): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    update ahs.verdict set lease_until = ${leaseUntil} where ${isLeasedBy(lease)}`);
  return rowCount === 1;
}

/** Gives a lease back, so that any worker can run it at once; no effect if another worker has it. */
export async function giveBackLease(db: Database, lease: RunLease, now: Date): Promise<void> {
  await db.execute(sql`
    update ahs.verdict set status = 'pending', lease_until = null, not_before = ${now}, updated_at = ${now}
    where ${isLeasedBy(lease)}`);
}

/** True if a worker still has its lease; then the verdict is locked until the database transaction ends. */
export async function lockLeased(tx: NodePgDatabase, lease: RunLease): Promise<boolean> {
  const { rows } = await tx.execute(sql`select 1 from ahs.verdict where ${isLeasedBy(lease)} for update`);
  return rows.length === 1;
}

/** Postpones due unpaid runs as if they had not been tried, so the wait does not count as the run's. Returns their number. */
export async function putOffFree(db: Database, of: { now: Date; until: Date }): Promise<number> {
  const { rowCount } = await db.$client.query({
    ...QUERY_DEADLINE,
    text: `update ahs.verdict set status = 'pending', lease_until = null, not_before = $2, tried_at = null, updated_at = $1
     where id in (
       select v.id from ahs.verdict v where ${DUE} and v.cause = any($3) order by v.id for update skip locked)`,
    values: [of.now, of.until, FREE_CAUSES],
  });
  return rowCount ?? 0;
}

/** Counts waiting and running verdicts, and the seconds that the most overdue one has been due. */
export async function readVerdictQueue(db: Database, now: Date) {
  const { rows } = await db.$client.query<{ depth: number; processing: number; ageSeconds: number }>({
    ...QUERY_DEADLINE,
    text: `select count(*) filter (where status = 'pending')::float8 as depth,
            count(*) filter (where status = 'processing')::float8 as processing,
            greatest(0, coalesce(extract(epoch from $1 - min(not_before) filter (where ${DUE})), 0))::float8 as "ageSeconds"
     from ahs.verdict v where status in ('pending', 'processing')`,
    values: [now],
  });
  return rows[0] ?? { depth: 0, processing: 0, ageSeconds: 0 };
}

export type LeaseDeps = {
  db: Database;
  now: () => Date;
  /** Milliseconds of a clock that never goes back. */
  monotonicMs: () => number;
  logger: Logger;
  /** Length of a lease and pause between renewals. */
  lease: { leaseMs: number; renewMs: number };
};

/**
 * Renews a lease until it is ended or lost. `lost` fires if another worker has it, or it could not be renewed in time. `end` does not wait
 * for a silent database.
 */
export function keepLease(
  { db, now, monotonicMs, logger, lease: { leaseMs, renewMs } }: LeaseDeps,
  lease: RunLease,
) {
  const lost = new AbortController();
  const ending = new AbortController();
  const signal = AbortSignal.any([lost.signal, ending.signal]);
  let heldUntilMs = monotonicMs() + leaseMs;
  const renewals = async () => {
    await pauseFor(renewMs, signal);
    await runLoop({
      logger,
      what: "renewing the lease of a verdict",
      signal,
      pauseMs: renewMs,
      retryMs: { first: renewMs, longest: renewMs },
      // A silent database would block a renewal for good.
      passMs: () => heldUntilMs - monotonicMs(),
      onFailure: (error) => {
        logger.warn({ err: error, verdict: lease.verdictId }, "the lease of a verdict could not be renewed");
        if (monotonicMs() >= heldUntilMs) lost.abort();
        return 0;
      },
      pass: async () => {
        const askedMs = monotonicMs();
        if (await renewLease(db, lease, new Date(now().getTime() + leaseMs))) heldUntilMs = askedMs + leaseMs;
        else lost.abort();
      },
    });
  };
  const renewed = renewals();
  const end = async () => {
    ending.abort();
    await renewed;
  };
  return { lost: lost.signal, end };
}

/** PostgreSQL channel that notifies workers of due verdicts. */
const VERDICT_CHANNEL = "ahs_verdict";

/**
 * Listens for due verdicts on a connection of the pool. A wait resolves after the given milliseconds, or earlier on a notification or when
 * the signal fires. After a lost connection it takes its full time and reconnects.
 */
export function listenForVerdicts(db: Database) {
  let client: PoolClient | null = null;
  let heard = Promise.withResolvers<void>();
  const connect = async () => {
    if (client !== null) return;
    const taken = await db.$client.connect();
    const drop = () => {
      if (client !== taken) return;
      client = null;
      taken.release(true);
    };
    taken.once("error", drop);
    taken.once("end", drop);
    taken.on("notification", () => heard.resolve());
    client = taken;
    await taken.query({ ...QUERY_DEADLINE, text: `listen ${VERDICT_CHANNEL}` }).catch(drop);
  };
  return {
    async wait(ms: number, signal: AbortSignal): Promise<void> {
      await connect().catch(() => undefined);
      const waiting = new AbortController();
      const over = sleep(ms, undefined, { signal: AbortSignal.any([signal, waiting.signal]) });
      await Promise.race([over.catch(() => undefined), heard.promise]);
      waiting.abort();
      heard = Promise.withResolvers<void>();
    },
    close(): void {
      client?.release(true);
      client = null;
    },
  };
}
