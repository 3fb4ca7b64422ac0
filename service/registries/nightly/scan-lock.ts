import type { PoolClient } from "pg";
import type { Database } from "../../db/database.ts";

const LOCK = "ahs-scan-run";

export type ScanLock = {
  readonly db: Database;
  readonly chainId: number;
  readonly signal: AbortSignal;
};

/**
 * Runs the work while no other process of the chain does, or answers "busy" at once. PostgreSQL frees the lock with the
 * connection of a process that dies; the work's signal fires with the given one, and when the lock's connection is lost.
 */
export async function whileScanning<Result>(
  { db, chainId, signal }: ScanLock,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | "busy"> {
  const client = await db.$client.connect();
  const lost = new AbortController();
  const onLost = () => lost.abort(new Error("the connection that holds the scan's lock was lost"));
  client.once("error", onLost);
  let isIdle = false;
  try {
    isIdle = !(await tryLock(client, chainId));
    return isIdle ? "busy" : await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    client.off("error", onLost);
    // Closing the connection frees the lock whatever state the work left it in.
    client.release(!isIdle);
  }
}

async function tryLock(client: PoolClient, chainId: number): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    "select pg_try_advisory_lock(hashtext($1), $2) as taken",
    [LOCK, chainId],
  );
  return rows[0]?.taken === true;
}
