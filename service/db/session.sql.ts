import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { PoolClient } from "pg";
import { QUERY_DEADLINE } from "./database.ts";
import { toQuery } from "./statement.ts";

// The builder has no words for locks, notifications and settings of PostgreSQL.

/** Waits for the lock of that name, and holds it until the transaction ends. */
export async function lockName(tx: NodePgDatabase, name: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
}

/** Takes the lock of a name and a number until the connection ends; false if another connection has it. */
export async function tryLock(client: PoolClient, name: string, number: number): Promise<boolean> {
  const { rows } = await client.query(
    toQuery(sql`select pg_try_advisory_lock(hashtext(${name}), ${number}) as taken`),
  );
  return rows[0]?.taken === true;
}

/** Gives the further statements of a transaction another time limit. */
export async function limitStatements(tx: NodePgDatabase, milliseconds: number): Promise<void> {
  await tx.execute(sql`select set_config('statement_timeout', ${`${milliseconds}`}, true)`);
}

/** Wakes the listeners of a channel once the transaction ends. */
export async function notify(tx: NodePgDatabase, channel: string): Promise<void> {
  await tx.execute(sql`select pg_notify(${channel}, '')`);
}

/** Has a connection be notified of a channel. */
export async function listen(client: PoolClient, channel: string): Promise<void> {
  await client.query({ ...QUERY_DEADLINE, ...toQuery(sql`listen ${sql.identifier(channel)}`) });
}
