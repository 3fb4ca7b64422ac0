import { setTimeout as sleep } from "node:timers/promises";
import { type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { PoolClient } from "pg";
import type { Logger } from "pino";
import type { Database } from "../../db/database.ts";
import { QUERY_DEADLINE } from "../../db/database.ts";
import type { RunCause } from "../../db/tables/verdict.ts";

/** Tells the workers, once the transaction is there, that a verdict is due. */
export async function wakeWorkers(tx: NodePgDatabase): Promise<void> {
  await tx.execute(sql`select pg_notify(${VERDICT_CHANNEL}, '')`);
}

/**
 * The right to run a verdict until leaseUntil. Each claim of a verdict differs from all others of it in one of run, cause, retries
 * and attempts, so that what a worker stores can be refused once another one has claimed.
 */
export type Claim = {
  readonly verdictId: string;
  /** The number that the run's row of verdict_run gets. */
  readonly run: number;
  readonly cause: RunCause;
  readonly retries: number;
  /** This one included. */
  readonly attempts: number;
  /** When the first of the attempts began. */
  readonly triedAt: Date;
};

type ClaimRow = {
  readonly id: string;
  readonly runs: number;
  readonly cause: RunCause;
  readonly retries: number;
  readonly attempts: number;
  readonly tried_at: Date;
};

/** Due at $1: to be run, or claimed by a worker that did not renew its lease. */
const DUE = `((status = 'pending' and not_before <= $1) or (status = 'processing' and lease_until < $1))`;

/**
 * Claims runs that are due, the longest due first, of all verdicts or of those of jobs alone; those that another worker is claiming
 * just now are left to it.
 */
export async function claimVerdicts(
  db: Database,
  of: {
    readonly now: Date;
    readonly leaseUntil: Date;
    readonly limit: number;
    readonly onlyOfJobs?: boolean;
  },
): Promise<readonly Claim[]> {
  const { rows } = await db.$client.query<ClaimRow>({
    ...QUERY_DEADLINE,
    text: `with due as (
       select id from ahs.verdict where ${DUE} and (job_id is not null or not $4)
       order by not_before, created_at, id limit $3 for update skip locked
     )
     update ahs.verdict v set status = 'processing', lease_until = $2, attempts = v.attempts + 1,
       tried_at = coalesce(v.tried_at, $1), updated_at = $1
     from due where v.id = due.id
     returning v.id, v.runs, v.cause, v.retries, v.attempts, v.tried_at`,
    values: [of.now, of.leaseUntil, of.limit, of.onlyOfJobs ?? false],
  });
  return rows.map(({ id, runs, cause, retries, attempts, tried_at }) => ({
    verdictId: id,
    run: runs + 1,
    cause,
    retries,
    attempts,
    triedAt: tried_at,
  }));
}

/** What holds while a claim does, whether or not its lease has run out. */
export function holdsClaim(claim: Claim): SQL {
  return sql`id = ${claim.verdictId} and status = 'processing' and runs = ${claim.run - 1} and cause = ${claim.cause}
    and retries = ${claim.retries} and attempts = ${claim.attempts}`;
}

/** Lengthens the lease of a claim; false where the claim is another's, or the run is over. */
export async function renewClaim(db: Database, claim: Claim, leaseUntil: Date): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    update ahs.verdict set lease_until = ${leaseUntil} where ${holdsClaim(claim)}`);
  return rowCount === 1;
}

/** Gives a claim back, so that any worker takes the run up at once; nothing where it is another's by now. */
export async function giveBackClaim(db: Database, claim: Claim, now: Date): Promise<void> {
  await db.execute(sql`
    update ahs.verdict set status = 'pending', lease_until = null, not_before = ${now}, updated_at = ${now}
    where ${holdsClaim(claim)}`);
}

/** Whether a claim still holds; where it does, nobody else takes or changes the verdict until the transaction ends. */
export async function takeClaim(tx: NodePgDatabase, claim: Claim): Promise<boolean> {
  const { rows } = await tx.execute(sql`select 1 from ahs.verdict where ${holdsClaim(claim)} for update`);
  return rows.length === 1;
}

/**
 * Has what is due wait until a moment, all of it or all but the verdicts of jobs, as if it had not been tried: that wait does not count
 * as the run's. Answers how many runs it is.
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

/** What waits to be run. */
export type VerdictQueue = {
  readonly depth: number;
  /** Seconds that the most overdue run has been due; 0 where none is. */
  readonly ageSeconds: number;
  /** Runs under way. */
  readonly processing: number;
};

/** How much waits to be run, how long the most overdue of it has been due, and how much is under way. */
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

/** How long a claim lasts without a sign of life, and how often there is one, in milliseconds. */
type LeaseLimits = { readonly leaseMs: number; readonly renewMs: number };

/** A claim that is renewed until it ends. */
export type Lease = {
  /** Fires when the claim is another's by now, or could not be renewed before it ran out. */
  readonly lost: AbortSignal;
  /** Does not wait for a database that does not answer. */
  readonly end: () => Promise<void>;
};

/** Renews a claim again and again until it is ended or lost. */
export function holdLease(deps: LeaseDeps, claim: Claim): Lease {
  const lost = new AbortController();
  const ending = new AbortController();
  const renewed = renewUntil(deps, claim, { lost, ending: ending.signal });
  return {
    lost: lost.signal,
    end: async () => {
      ending.abort();
      await renewed;
    },
  };
}

async function renewUntil(
  deps: LeaseDeps,
  claim: Claim,
  { lost, ending }: { readonly lost: AbortController; readonly ending: AbortSignal },
): Promise<void> {
  const { monotonicMs, lease } = deps;
  let heldUntilMs = monotonicMs() + lease.leaseMs;
  while (!lost.signal.aborted) {
    await sleep(lease.renewMs, undefined, { signal: ending }).catch(() => undefined);
    if (ending.aborted) return;
    const askedMs = monotonicMs();
    // A database that has stopped answering keeps a query waiting for good.
    const answered = new AbortController();
    const over = sleep(Math.max(0, heldUntilMs - askedMs), "over" as const, {
      signal: AbortSignal.any([ending, answered.signal]),
    });
    const fate = await Promise.race([renew(deps, claim), over.catch(() => "over" as const)]);
    answered.abort();
    if (fate === "renewed") heldUntilMs = askedMs + lease.leaseMs;
    else if (fate === "taken" || monotonicMs() >= heldUntilMs) lost.abort();
  }
}

async function renew(
  { db, now, logger, lease }: LeaseDeps,
  claim: Claim,
): Promise<"renewed" | "taken" | "unknown"> {
  try {
    const isHeld = await renewClaim(db, claim, new Date(now().getTime() + lease.leaseMs));
    return isHeld ? "renewed" : "taken";
  } catch (error) {
    logger.warn({ err: error, verdict: claim.verdictId }, "the lease of a verdict could not be renewed");
    return "unknown";
  }
}

/** Channel on which a verdict that is due wakes the workers. */
const VERDICT_CHANNEL = "ahs_verdict";

/** Hears of verdicts that are due. */
export type VerdictEar = {
  /** Resolves after the given milliseconds, or sooner once something became due or the signal fires. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  close(): void;
};

/**
 * Listens on a connection of the pool. While the database does not answer, and after the connection was lost, it hears nothing:
 * then a wait takes its whole time, and asks for a connection anew.
 */
export function listenForVerdicts(db: Database): VerdictEar {
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
