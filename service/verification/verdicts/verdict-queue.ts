import { setTimeout as sleep } from "node:timers/promises";
import { type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { PoolClient } from "pg";
import type { Logger } from "pino";
import type { Database } from "../../db/database.ts";
import { QUERY_DEADLINE } from "../../db/database.ts";
import { pauseFor, runLoop } from "../../db/run-loop.ts";
import type { RunCause } from "../../db/tables/verdict.ts";

/** Notifies the workers of a due verdict when the database transaction commits. */
export async function wakeWorkers(tx: NodePgDatabase): Promise<void> {
  await tx.execute(sql`select pg_notify(${VERDICT_CHANNEL}, '')`);
}

/**
 * A worker's right to run a verdict until leaseUntil. Two leases of a verdict always differ in run, cause, retries or attempts, so a late
 * worker's writes can be refused.
 */
export type Claim = {
  readonly verdictId: string;
  /** Number of the run in verdict_run. */
  readonly run: number;
  readonly cause: RunCause;
  readonly retries: number;
  /** This one included. */
  readonly attempts: number;
  /** Start of the first attempt. */
  readonly triedAt: Date;
};

/** Due at $1: pending, or leased by a worker that did not renew. */
const DUE = `((status = 'pending' and not_before <= $1) or (status = 'processing' and lease_until < $1))`;

/** Leases due runs, most overdue first, of all verdicts or only of jobs' ones. Rows that another worker is leasing now are skipped. */
export async function claimVerdicts(
  db: Database,
  of: {
    readonly now: Date;
    readonly leaseUntil: Date;
    readonly limit: number;
    readonly onlyOfJobs?: boolean;
  },
): Promise<readonly Claim[]> {
  const { rows } = await db.$client.query<Claim>({
    ...QUERY_DEADLINE,
    text: `with due as (
       select id from ahs.verdict where ${DUE} and (job_id is not null or not $4)
       order by not_before, created_at, id limit $3 for update skip locked
     )
     update ahs.verdict v set status = 'processing', lease_until = $2, attempts = v.attempts + 1,
       tried_at = coalesce(v.tried_at, $1), updated_at = $1
     from due where v.id = due.id
     returning v.id as "verdictId", v.runs + 1 as run, v.cause, v.retries, v.attempts, v.tried_at as "triedAt"`,
    values: [of.now, of.leaseUntil, of.limit, of.onlyOfJobs ?? false],
  });
  return rows;
}

/** Condition that holds while no other worker has taken the lease, even after its end. */
export function holdsClaim(claim: Claim): SQL {
  return sql`id = ${claim.verdictId} and status = 'processing' and runs = ${claim.run - 1} and cause = ${claim.cause}
    and retries = ${claim.retries} and attempts = ${claim.attempts}`;
}

/** Renews a lease; false if another worker has it, or the run is over. */
export async function renewClaim(db: Database, claim: Claim, leaseUntil: Date): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    update ahs.verdict set lease_until = ${leaseUntil} where ${holdsClaim(claim)}`);
  return rowCount === 1;
}

/** Gives a lease back, so that any worker can run it at once; no effect if another worker has it. */
export async function giveBackClaim(db: Database, claim: Claim, now: Date): Promise<void> {
  await db.execute(sql`
    update ahs.verdict set status = 'pending', lease_until = null, not_before = ${now}, updated_at = ${now}
    where ${holdsClaim(claim)}`);
}

/** True if a lease is still held; then the verdict is locked until the database transaction ends. */
export async function takeClaim(tx: NodePgDatabase, claim: Claim): Promise<boolean> {
  const { rows } = await tx.execute(sql`select 1 from ahs.verdict where ${holdsClaim(claim)} for update`);
  return rows.length === 1;
}

/**
 * Postpones due runs, all or only those without a job, as if they had not been tried, so the wait does not count as the run's. Returns
 * their number.
 */
export async function putOffDue(
  db: Database,
  of: { readonly now: Date; readonly until: Date; readonly exceptOfJobs: boolean },
): Promise<number> {
  const { rowCount } = await db.$client.query({
    ...QUERY_DEADLINE,
    text: `update ahs.verdict set status = 'pending', lease_until = null, not_before = $2, tried_at = null, updated_at = $1
     where id in (
       select id from ahs.verdict where ${DUE} and (job_id is null or not $3) order by id for update skip locked)`,
    values: [of.now, of.until, of.exceptOfJobs],
  });
  return rowCount ?? 0;
}

/** Size and age of the queue. */
export type VerdictQueue = {
  readonly depth: number;
  /** Seconds that the most overdue run has been due; 0 without one. */
  readonly ageSeconds: number;
  /** Running verdicts. */
  readonly processing: number;
};

/** Reads the number of waiting and running verdicts and the age of the most overdue one. */
export async function readVerdictQueue(db: Database, now: Date): Promise<VerdictQueue> {
  const { rows } = await db.$client.query<{ depth: number; age: number; processing: number }>({
    ...QUERY_DEADLINE,
    text: `select count(*) filter (where status = 'pending')::float8 as depth,
            count(*) filter (where status = 'processing')::float8 as processing,
            greatest(0, coalesce(extract(epoch from $1 - min(not_before) filter (where ${DUE})), 0))::float8 as age
     from ahs.verdict where status in ('pending', 'processing')`,
    values: [now],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("a count answers one row");
  return { depth: row.depth, ageSeconds: row.age, processing: row.processing };
}

export type LeaseDeps = {
  readonly db: Database;
  readonly now: () => Date;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly logger: Logger;
  readonly lease: LeaseLimits;
};

/** Length of a lease and pause between renewals, in milliseconds. */
type LeaseLimits = { readonly leaseMs: number; readonly renewMs: number };

/** A lease that is renewed until it ends. */
export type Lease = {
  /** Fires if another worker has the lease, or it could not be renewed in time. */
  readonly lost: AbortSignal;
  /** Does not wait for a silent database. */
  readonly end: () => Promise<void>;
};

/** Renews a lease until it is ended or lost. */
export function holdLease({ db, now, monotonicMs, logger, lease }: LeaseDeps, claim: Claim): Lease {
  const lost = new AbortController();
  const ending = new AbortController();
  const signal = AbortSignal.any([lost.signal, ending.signal]);
  let heldUntilMs = monotonicMs() + lease.leaseMs;
  const renewals = async () => {
    await pauseFor(lease.renewMs, signal);
    await runLoop({
      logger,
      what: "renewing the lease of a verdict",
      signal,
      pauseMs: lease.renewMs,
      retryMs: { first: lease.renewMs, longest: lease.renewMs },
      // A silent database would block a renewal for good.
      passMs: () => heldUntilMs - monotonicMs(),
      onFailure: (error) => {
        logger.warn({ err: error, verdict: claim.verdictId }, "the lease of a verdict could not be renewed");
        if (monotonicMs() >= heldUntilMs) lost.abort();
        return 0;
      },
      pass: async () => {
        const askedMs = monotonicMs();
        if (await renewClaim(db, claim, new Date(now().getTime() + lease.leaseMs)))
          heldUntilMs = askedMs + lease.leaseMs;
        else lost.abort();
      },
    });
  };
  const renewed = renewals();
  return {
    lost: lost.signal,
    end: async () => {
      ending.abort();
      await renewed;
    },
  };
}

/** PostgreSQL channel that notifies workers of due verdicts. */
const VERDICT_CHANNEL = "ahs_verdict";

/** Listens for due verdicts. */
export type VerdictListener = {
  /** Resolves after the given milliseconds, or earlier on a notification or when the signal fires. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  close(): void;
};

/** Listens on a connection of the pool. After a lost connection a wait takes its full time and reconnects. */
export function listenForVerdicts(db: Database): VerdictListener {
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
    async wait(ms, signal) {
      await connect().catch(() => undefined);
      const waiting = new AbortController();
      const over = sleep(ms, undefined, { signal: AbortSignal.any([signal, waiting.signal]) });
      await Promise.race([over.catch(() => undefined), heard.promise]);
      waiting.abort();
      heard = Promise.withResolvers<void>();
    },
    close() {
      client?.release(true);
      client = null;
    },
  };
}
