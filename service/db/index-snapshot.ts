import { desc } from "drizzle-orm";
import type { PoolClient, QueryArrayConfig, QueryArrayResult, QueryConfig } from "pg";
import type { Hex } from "viem";
import type { AsOf } from "../model/features/types.ts";
import { type Database, QUERY_DEADLINE, underDeadline } from "./database.ts";
import { databaseFailure, isRolledBack } from "./database-failure.ts";
import type { IndexHead } from "./index-head.ts";
import { indexOf, numberOf } from "./index-tables.ts";

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

/** Returns the result of a read from the index; null while the index has no tables. Throws every other failure. */
export async function fromIndex<Value>(reading: Promise<Value>): Promise<Value | null> {
  try {
    return await reading;
  } catch (error) {
    if (databaseFailure(error) === "index") return null;
    throw error;
  }
}

/** A pg client or pool; what it reads is of one moment only within one REPEATABLE READ transaction, which the caller opens. */
export type ArrayReader = {
  readonly query: <Row extends unknown[]>(config: QueryArrayConfig) => Promise<QueryArrayResult<Row>>;
};

/** The block of a query's first row: number (float8), hash and timestamp (float8); null without a row. */
export async function readBlock(client: ArrayReader, query: QueryConfig): Promise<AsOf | null> {
  const { rows } = await client.query<[number, Hex, number]>({ ...query, rowMode: "array" });
  const [row] = rows;
  return row === undefined ? null : { blockNumber: row[0], blockHash: row[1], timestamp: row[2] };
}

/** The newest block of a chain's index, null while it holds none; throws while it has no tables, see `fromIndex`. */
export async function readIndexHead(db: Database, chainId: number): Promise<IndexHead | null> {
  const { block } = indexOf(chainId);
  const [head] = await underDeadline(db)
    .select({ blockNumber: numberOf(block.number), timestamp: numberOf(block.timestamp) })
    .from(block)
    .orderBy(desc(block.number))
    .limit(1);
  return head ?? null;
}
