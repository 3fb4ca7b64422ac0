import { setTimeout as sleep } from "node:timers/promises";
import { and, eq, type SQL } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { PoolClient } from "pg";
import type { Logger } from "pino";
import type { Database } from "../../db/database.ts";
import { pauseFor, runLoop } from "../../db/run-loop.ts";
import { listen, notify } from "../../db/session.sql.ts";
import { type RunCause, verdict } from "../../db/tables/verdict.ts";

/** Notifies the workers of a due verdict when the database transaction commits. */
export async function wakeWorkers(tx: NodePgDatabase): Promise<void> {
  await notify(tx, VERDICT_CHANNEL);
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

/** Condition that is true while no other worker has taken the lease, even after its end. */
export function isLeasedBy(lease: RunLease): SQL | undefined {
  return and(
    eq(verdict.id, lease.verdictId),
    eq(verdict.status, "processing"),
    eq(verdict.runs, lease.run - 1),
    eq(verdict.cause, lease.cause),
    eq(verdict.retries, lease.retries),
    eq(verdict.attempts, lease.attempts),
  );
}

/** Renews a lease; false if another worker has it, or the run is over. */
export async function renewLease(db: Database, lease: RunLease, leaseUntil: Date): Promise<boolean> {
  const { rowCount } = await db.update(verdict).set({ leaseUntil }).where(isLeasedBy(lease));
  return rowCount === 1;
}

/** Gives a lease back, so that any worker can run it at once; no effect if another worker has it. */
export async function giveBackLease(db: Database, lease: RunLease, now: Date): Promise<void> {
  await db
    .update(verdict)
    .set({ status: "pending", leaseUntil: null, notBefore: now, updatedAt: now })
    .where(isLeasedBy(lease));
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
    await listen(taken, VERDICT_CHANNEL).catch(drop);
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
