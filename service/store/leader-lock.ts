import { setTimeout as sleep } from "node:timers/promises";
import type { PoolClient } from "pg";
import type { Database } from "./database.ts";

const RETRY_MS = 1_000;

/**
 * Runs the work in one process at a time: the others wait for the lock, which PostgreSQL frees with the connection of a
 * process that dies. Work gets a signal that also fires when the lock's connection is lost. Returns when `signal` fires.
 */
export async function whileLeader(
  options: {
    readonly db: Database;
    readonly name: string;
    readonly chainId: number;
    readonly signal: AbortSignal;
  },
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { db, name, chainId, signal } = options;
  while (!signal.aborted) {
    const client = await tryLead(db, name, chainId);
    if (client === null) {
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      continue;
    }
    const lost = new AbortController();
    client.once("error", () => lost.abort());
    try {
      await work(AbortSignal.any([signal, lost.signal]));
    } finally {
      // Closing the connection frees the lock whatever state the work left it in.
      client.release(true);
    }
  }
}

async function tryLead(db: Database, name: string, chainId: number): Promise<PoolClient | null> {
  let client: PoolClient;
  try {
    client = await db.$client.connect();
  } catch {
    return null;
  }
  try {
    const { rows } = await client.query<{ taken: boolean }>(
      "select pg_try_advisory_lock(hashtext($1), $2) as taken",
      [name, chainId],
    );
    if (rows[0]?.taken === true) return client;
  } catch (error) {
    client.release(true);
    throw error;
  }
  client.release();
  return null;
}
