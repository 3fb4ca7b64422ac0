import { sql } from "drizzle-orm";
import type { PoolClient, QueryConfig } from "pg";
import { type Database, QUERY_DEADLINE } from "./database.ts";
import { databaseFailure, isRolledBack } from "./database-failure.ts";

/**
 * Runs reads on one REPEATABLE READ snapshot, so that all of them see the index at the same moment. They run a second time where
 * the server ended them to solve a deadlock, as it does with a reader while the indexer changes its triggers.
 */
export async function readSnapshot<T>(db: Database, read: (client: PoolClient) => Promise<T>): Promise<T> {
  try {
    return await readOnce(db, read);
  } catch (error) {
    if (!isRolledBack(error)) throw error;
    return readOnce(db, read);
  }
}

async function readOnce<T>(db: Database, read: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await db.$client.connect();
  let broken: Error | undefined;
  try {
    await client.query("begin isolation level repeatable read read only");
    const result = await read(client);
    await client.query("commit");
    return result;
  } catch (error) {
    // A server that is frozen answers this no more than what failed.
    await client.query({ ...QUERY_DEADLINE, text: "rollback" }).catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** The same for a request that waits: every statement is given up after QUERY_DEADLINE. */
export function readSnapshotInTime<T>(db: Database, read: (client: PoolClient) => Promise<T>): Promise<T> {
  return readSnapshot(db, (client) => read(inTime(client)));
}

function inTime(client: PoolClient): PoolClient {
  const query = (asked: string | QueryConfig, values?: unknown[]) =>
    client.query({ ...QUERY_DEADLINE, ...(typeof asked === "string" ? { text: asked } : asked) }, values);
  return new Proxy(client, {
    get: (target, property) => (property === "query" ? query : Reflect.get(target, property, target)),
  });
}

/** What a statement reads from the index; null while the index has no tables. Every other failure is thrown. */
export async function fromIndex<Value>(reading: Promise<Value>): Promise<Value | null> {
  try {
    return await reading;
  } catch (error) {
    if (databaseFailure(error) === "index") return null;
    throw error;
  }
}

/** A view of the index, qualified. */
export function viewOf(
  chainId: number,
  view: "block" | "job" | "oracle_score" | "oracle_root" | "sanctions_change" | "verdict_event" | "wallet",
) {
  return sql`${sql.identifier(`chain_${chainId}`)}.${sql.identifier(view)}`;
}
