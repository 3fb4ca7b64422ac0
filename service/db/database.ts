import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import {
  Pool,
  type PoolClient,
  type QueryArrayConfig,
  type QueryConfig,
  type QueryResultRow,
  types,
} from "pg";
import { isRolledBack } from "./database-failure.ts";
import { grantRights } from "./roles.ts";
import { createTextSeal, NO_TEXT_KEYS, type TextKeys, type TextSeal } from "./text-seal.ts";

export type Database = NodePgDatabase & {
  readonly $client: Pool;
  /** Encrypts and decrypts stored texts of clients and providers. */
  readonly texts: TextSeal;
};

/**
 * Opens a pool whose every statement and connection attempt has a deadline, and where names without a schema are PostgreSQL's
 * own; the caller ends it.
 */
export function openDatabase(options: {
  readonly url: string;
  /** Shown by PostgreSQL for every connection of this process. */
  readonly applicationName: string;
  readonly maxConnections: number;
  readonly statementTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Keys of stored texts; without them texts are stored plain. */
  readonly textKeys?: TextKeys;
  /** Called when an idle connection dies; the pool replaces it by itself. */
  readonly onIdleError: (error: Error) => void;
}): Database {
  const pool = new Pool({
    connectionString: withOwnNames(options.url),
    application_name: options.applicationName,
    max: options.maxConnections,
    statement_timeout: options.statementTimeoutMs,
    connectionTimeoutMillis: options.connectTimeoutMs,
  });
  repeatRolledBack(pool);
  pool.on("error", options.onIdleError);
  // A connection that dies while it is checked out and idle has no other listener: it would end the process.
  pool.on("connect", (client) => client.on("error", options.onIdleError));
  const transaction: Database["transaction"] = (work, config) =>
    inTransaction(pool, (tx) => tx.transaction(work, config));
  const texts = createTextSeal(options.textKeys ?? NO_TEXT_KEYS);
  return Object.assign(drizzle(pool, { casing: "snake_case" }), { transaction, texts });
}

/** Repeats a statement outside of transactions once where the server ended it to solve a deadlock: nothing of it was done. */
function repeatRolledBack(pool: Pool): void {
  const query = pool.query.bind(pool) as (...asked: unknown[]) => Promise<unknown>;
  const repeated = (...asked: unknown[]) =>
    query(...asked).catch((error: unknown) => {
      if (!isRolledBack(error)) throw error;
      return query(...asked);
    });
  // Nothing here passes a callback, for which it would return nothing.
  pool.query = repeated as Pool["query"];
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

/**
 * Brings the schema `ahs` to the newest version, and where our roles exist gives each its rights; safe to run again, and while others run it.
 */
export async function migrateDatabase(db: Database): Promise<void> {
  await applyMigrations(db, MIGRATIONS, grantRights);
}

/**
 * Makes the schema `ahs` as it was once these migrations had run, by their hashes. Throws when it is there in any other
 * version, and when they are not the first of those that this code knows.
 */
export async function migrateThrough(db: Database, hashes: readonly string[]): Promise<void> {
  const known = readMigrationFiles({ migrationsFolder: MIGRATIONS });
  if (hashes.length > known.length || hashes.some((hash, index) => known[index]?.hash !== hash)) {
    throw new Error(
      `of ${hashes.length} migrations some are unknown here: take the code of that version, or a newer one`,
    );
  }
  const applied = await readApplied(db.$client);
  if (applied.length === hashes.length && applied.every((hash, index) => hash === hashes[index])) return;
  if (applied.length > 0) {
    throw new Error(
      `the database has ${applied.length} migrations, the backup ${hashes.length}: take a database without the schema ahs`,
    );
  }
  const folder = mkdtempSync(join(tmpdir(), "ahs-migrations-"));
  try {
    copyFirstMigrations(folder, hashes.length);
    await applyMigrations(db, folder, async () => undefined);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function applyMigrations(
  db: Database,
  folder: string,
  andThen: (client: PoolClient) => Promise<void>,
): Promise<void> {
  const client = await db.$client.connect();
  try {
    // A migration takes as long as its tables are large, and a waiting process waits as long.
    await client.query("set statement_timeout = 0");
    await client.query("select pg_advisory_lock(hashtext('ahs-migrate'))");
    await migrate(drizzle(client, { casing: "snake_case" }), {
      migrationsFolder: folder,
      migrationsSchema: "ahs",
      migrationsTable: "migration",
    });
    await andThen(client);
  } finally {
    // Closing the connection frees the lock in any state.
    client.release(true);
  }
}

/** Hashes of the migrations that the database has, oldest first; none where there is no schema. */
export async function readApplied(client: Pick<Pool, "query">): Promise<readonly string[]> {
  if (!(await relationExists(client, "ahs.migration"))) return [];
  const { rows } = await client.query<{ hash: string }>("select hash from ahs.migration order by id");
  return rows.map(({ hash }) => hash);
}

/** Whether a table or view of this qualified name exists. */
export async function relationExists(client: Pick<Pool, "query">, name: string): Promise<boolean> {
  const { rows } = await client.query("select to_regclass($1) is not null as there", [name]);
  return rows[0]?.there === true;
}

function copyFirstMigrations(folder: string, count: number): void {
  cpSync(MIGRATIONS, folder, { recursive: true, filter: (path) => !path.endsWith("_snapshot.json") });
  const journal = readJournal(folder);
  const entries = journal.entries.slice(0, count);
  writeFileSync(join(folder, JOURNAL), JSON.stringify({ ...journal, entries }));
}

const JOURNAL = "meta/_journal.json";

function readJournal(folder: string): { readonly entries: readonly unknown[] } {
  return JSON.parse(readFileSync(join(folder, JOURNAL), "utf8"));
}

/** The number of migrations that this code has. */
export function knownMigrations(): number {
  return readJournal(MIGRATIONS).entries.length;
}

/** Throws when the schema `ahs` is missing or older than this code. */
export async function requireMigrated(db: Database): Promise<void> {
  const [applied, known] = [await readApplied(db.$client), knownMigrations()];
  if (applied.length >= known) return;
  throw new Error(`the database has ${applied.length} of ${known} migrations: run "ahs migrate" on it first`);
}

/**
 * Spread into a statement that a request waits for: the driver gives it up after this time even where the server,
 * frozen or cut off, can no longer keep its own statement_timeout. Milliseconds; an answer later than this is no use.
 */
export const QUERY_DEADLINE = { query_timeout: 5_000 } as const;

/** Spread into a statement whose columns of type numeric hold whole numbers: they are read as bigints. */
export const NUMERIC_AS_BIGINT = {
  types: {
    getTypeParser: ((oid: number, format?: "text" | "binary") =>
      oid === types.builtins.NUMERIC
        ? BigInt
        : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
  },
};

/** The rows of a statement that a request waits for, by that deadline. */
export async function rowsInTime<Row extends QueryResultRow>(
  db: Database,
  statement: QueryConfig,
): Promise<Row[]> {
  return (await db.$client.query<Row>({ ...QUERY_DEADLINE, ...statement })).rows;
}

/** The same database with that deadline on each of its statements; not for transactions. */
export function underDeadline({ $client }: Database): NodePgDatabase {
  return builderOn({
    query: (statement: QueryConfig, values?: unknown[]) =>
      $client.query({ ...statement, ...QUERY_DEADLINE }, values),
  });
}

/** The query builder on a pool or client, such as one that holds a snapshot; not for transactions. */
export function builderOn(client: { readonly query: (config: QueryArrayConfig) => unknown }): NodePgDatabase {
  // Outside of transactions, a statement is all that drizzle asks of a pool.
  return drizzle(client as unknown as Pool, { casing: "snake_case" });
}

/**
 * A user that may make a schema can give it the name of another user, where PostgreSQL looks for a function that fits a call better than
 * its own; nothing of ours is named without its schema.
 */
const OWN_NAMES = "-c search_path=pg_catalog";

/**
 * The URL of a database, by which names without a schema are PostgreSQL's own, with further options of the
 * server's command line; those that the URL has already stay, but for another search path.
 */
export function withOwnNames(databaseUrl: string, options: string | null = null): string {
  const [base, ...query] = databaseUrl.split("?");
  const parameters = new URLSearchParams(query.join("?"));
  const all = [parameters.get("options"), options, OWN_NAMES].filter((part) => part !== null).join(" ");
  parameters.delete("options");
  const others = parameters.size === 0 ? "" : `${parameters}&`;
  // The driver encodes a URL once more that has a space anywhere, but for letters and these.
  const encoded = encodeURIComponent(all).replaceAll("%20", "+").replaceAll("%3D", "=");
  return `${base}?${others}options=${encoded}`;
}
