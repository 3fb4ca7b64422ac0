import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Pool, QueryConfig } from "pg";
import type { Database } from "./database.ts";

/**
 * Spread into a statement that a request waits for: the driver gives it up after this time even where the server,
 * frozen or cut off, can no longer keep its own statement_timeout. Milliseconds; an answer later than this is no use.
 */
export const QUERY_DEADLINE = { query_timeout: 5_000 } as const;

/** The same database with that deadline on each of its statements; not for transactions. */
export function underDeadline({ $client }: Database): NodePgDatabase {
  const client = {
    query: (statement: QueryConfig, values?: unknown[]) =>
      $client.query({ ...statement, ...QUERY_DEADLINE }, values),
  };
  // Outside of transactions, a statement is all that drizzle asks of a pool.
  return drizzle(client as unknown as Pool, { casing: "snake_case" });
}
