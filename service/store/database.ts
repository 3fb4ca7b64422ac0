import { readFileSync } from "node:fs";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import { Pool } from "pg";

export type Database = NodePgDatabase & { readonly $client: Pool };

export type DatabaseOptions = {
  readonly url: string;
  /** Shown by PostgreSQL for every connection of this process. */
  readonly applicationName: string;
  readonly maxConnections: number;
  readonly statementTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Called when an idle connection dies; the pool replaces it by itself. */
  readonly onIdleError: (error: Error) => void;
};

/** Opens a pool whose every statement and connection attempt has a deadline; the caller ends it. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = new Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.maxConnections,
    statement_timeout: options.statementTimeoutMs,
    connectionTimeoutMillis: options.connectTimeoutMs,
  });
  pool.on("error", options.onIdleError);
  // A connection that dies while it is checked out and idle has no other listener: it would end the process.
  pool.on("connect", (client) => client.on("error", options.onIdleError));
  const transaction: Database["transaction"] = (work, config) =>
    inTransaction(pool, (tx) => tx.transaction(work, config));
  return Object.assign(drizzle(pool, { casing: "snake_case" }), { transaction });
}

/** drizzle's own transactions on a pool keep the connection for good whose BEGIN fails, so the connection is taken here. */
async function inTransaction<Result>(
  pool: Pool,
  run: (db: NodePgDatabase) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    return await run(drizzle(client, { casing: "snake_case" }));
  } finally {
    // One that has died is not taken back.
    client.release();
  }
}

const MIGRATIONS = new URL("./migrations", import.meta.url).pathname;

/** Brings the schema `ahs` to the newest version; safe to run again, and while others run it. */
export async function migrateDatabase(db: Database): Promise<void> {
  const client = await db.$client.connect();
  try {
    // A migration takes as long as its tables are large, and whoever waits for it as long as that.
    await client.query("set statement_timeout = 0");
    await client.query("select pg_advisory_lock(hashtext('ahs-migrate'))");
    await migrate(drizzle(client, { casing: "snake_case" }), {
      migrationsFolder: MIGRATIONS,
      migrationsSchema: "ahs",
      migrationsTable: "migration",
    });
  } finally {
    // Closing the connection frees the lock, whatever state the migration left it in.
    client.release(true);
  }
}

/** Throws when the schema `ahs` is missing or older than this code. */
export async function requireMigrated(db: Database): Promise<void> {
  const journal = JSON.parse(readFileSync(`${MIGRATIONS}/meta/_journal.json`, "utf8")) as {
    entries: unknown[];
  };
  const { rows } = await db.$client.query<{ there: boolean }>(
    "select to_regclass('ahs.migration') is not null as there",
  );
  const applied =
    rows[0]?.there === true ? await db.$client.query("select 1 from ahs.migration") : { rowCount: 0 };
  if (applied.rowCount !== null && applied.rowCount >= journal.entries.length) return;
  throw new Error(
    `the database has ${applied.rowCount} of ${journal.entries.length} migrations: run "ahs migrate" on it first`,
  );
}
