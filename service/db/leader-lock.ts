import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { PoolClient } from "pg";
import type { Logger } from "pino";
import { Gauge } from "prom-client";
import type { Database } from "./database.ts";
import { runLoop } from "./run-loop.ts";

const RETRY_MS = 1_000;

type Leadership = {
  readonly db: Database;
  readonly name: string;
  readonly chainId: number;
  readonly logger: Logger;
  /** Metrics of the work: its gauges have no value while this process does not lead. */
  readonly metrics?: Readonly<Record<string, unknown>>;
};

/**
 * Runs the work in one process at a time: the others wait for the lock, which PostgreSQL frees with the connection of a
 * process that dies. Work gets a signal that also fires when the lock's connection is lost. Returns when `signal` fires.
 */
export async function whileLeader(
  options: Leadership & { readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { signal, metrics = {} } = options;
  // A new gauge would report 0, which is not known yet.
  await forgetGauges(metrics);
  await runLoop({
    ...options,
    what: "leading",
    pauseMs: (hasLed) => (hasLed ? 0 : RETRY_MS),
    // The work logs and retries its own failures: one that arrives here is a fault of ours and ends the process.
    onFailure: (error) => {
      throw error;
    },
    pass: async () => {
      const client = await tryLead(options);
      if (client === null) return false;
      const lost = new AbortController();
      client.once("error", () => lost.abort());
      try {
        await work(AbortSignal.any([signal, lost.signal]));
      } finally {
        await forgetGauges(metrics);
        // Closing the connection frees the lock in any state.
        client.release(true);
      }
      return true;
    },
  });
}

/** Removes the gauge, or the value of a former leader would be reported beside that of the present one. */
async function forgetGauges(metrics: Readonly<Record<string, unknown>>): Promise<void> {
  for (const metric of Object.values(metrics)) {
    if (!(metric instanceof Gauge)) continue;
    const { values } = await metric.get();
    for (const { labels } of values) metric.remove(labels);
  }
}

/** Null while another process leads, and while the database does not answer. */
async function tryLead({ db, name, chainId, logger }: Leadership): Promise<PoolClient | null> {
  let client: PoolClient | undefined;
  try {
    client = await db.$client.connect();
    const { rows } = await client.query<{ taken: boolean }>(
      "select pg_try_advisory_lock(hashtext($1), $2) as taken",
      [name, chainId],
    );
    if (rows[0]?.taken === true) return client;
    client.release();
  } catch (error) {
    client?.release(true);
    logger.warn({ err: error, lock: name }, "cannot ask for the lead");
  }
  return null;
}

/** Takes a lock that ends with the database transaction; false if another transaction has it. */
export async function tryTransactionLock(tx: NodePgDatabase, name: string): Promise<boolean> {
  const { rows } = await tx.execute<{ taken: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as taken`,
  );
  return rows[0]?.taken === true;
}
