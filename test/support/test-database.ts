import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, inject } from "vitest";
import { type Database, openDatabase } from "../../service/db/database.ts";
import type { RoleName } from "../../service/db/role-rights.ts";
import { NO_TEXT_KEYS, type TextKeys } from "../../service/db/text-seal.ts";
import { emptyDatabase, fingerprintOf } from "./empty-database.ts";

/** A migrated database of its own for one test file, made before its tests and dropped after them. */
export function useDatabase(): Database {
  const { name, isMade } = takeName();
  const db = openMigrated(urlOf(name));
  beforeAll(async () => {
    if (!isMade) await copyMigrated(name);
  });
  afterAll(async () => {
    await db.$client.end();
    await giveBack(name);
  });
  return db;
}

/** Opens a world for all tests of a file, at its top, and closes it after them. */
export async function forFile<World extends { close(): Promise<void> }>(
  open: () => Promise<World>,
): Promise<World> {
  const world = await open();
  afterAll(() => world.close());
  return world;
}

export type TestDatabase = Awaited<ReturnType<typeof createTestDatabase>>;

/** A migrated database of its own on the run's PostgreSQL. */
export async function createTestDatabase() {
  const { name, isMade } = takeName();
  if (!isMade) await copyMigrated(name);
  return { url: urlOf(name), drop: () => giveBack(name) };
}

/** A database of its own that was never migrated. */
export async function createEmptyDatabase() {
  const name = newName();
  await onServer(inject("postgresUrl"), `create database ${name}`);
  return { url: urlOf(name), drop: () => drop(name) };
}

/** A migrated database of its own, and what closes and drops it. */
export async function openTestDatabase(
  textKeys?: TextKeys,
): Promise<{ db: Database; close: () => Promise<void>; url: string }> {
  const { url, drop } = await createTestDatabase();
  const db = openMigrated(url, textKeys);
  const close = async () => {
    await db.$client.end();
    await drop();
  };
  return { db, close, url };
}

/** Opens a migrated database; the caller ends the pool. */
export function openMigrated(url: string, textKeys: TextKeys = NO_TEXT_KEYS): Database {
  return openDatabase({
    url,
    textKeys,
    applicationName: "ahs-test",
    maxConnections: 10,
    statementTimeoutMs: 30_000,
    // The wait for a free connection counts as well, and is long on a busy machine.
    connectTimeoutMs: 60_000,
    onIdleError: () => undefined,
  });
}

/** The URL by which a process of that role reaches a database of the run's PostgreSQL. */
export function urlForRole(databaseUrl: string, role: RoleName): string {
  const url = new URL(databaseUrl);
  url.username = `${role}_test`;
  url.password = inject("rolePassword");
  return url.href;
}

/** Migrated, empty databases of this process that no test uses: to empty one takes less than to make it. */
const unused: string[] = [];

/** Name of a database, and whether there is one by that name already. */
function takeName(): { readonly name: string; readonly isMade: boolean } {
  const name = unused.pop();
  return name === undefined ? { name: newName(), isMade: false } : { name, isMade: true };
}

/** Empties a database for the next test, or drops it if more than its rows was changed. */
async function giveBack(name: string): Promise<void> {
  const isLikeNew = await withClient(urlOf(name), async (client) => {
    await emptyDatabase(client);
    return (await fingerprintOf(client)) === inject("migratedFingerprint");
  });
  if (!isLikeNew) return drop(name);
  // A process that is left of the test finds no database by the old name.
  const next = newName();
  await onServer(inject("postgresUrl"), `alter database ${name} rename to ${next}`);
  unused.push(next);
}

/** With it the end of the run finds what is left of its databases. */
function newName(): string {
  return `${inject("databasePrefix")}${randomBytes(6).toString("hex")}`;
}

function urlOf(name: string): string {
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${name}`;
  return url.href;
}

async function copyMigrated(name: string): Promise<void> {
  const template = inject("migratedDatabase");
  await onServer(inject("postgresUrl"), `create database ${name} template ${template} strategy file_copy`);
  // A copy has the rights on what it holds, and none on itself.
  await onServer(urlOf(name), `grant create on database ${name} to ahs_index`);
}

function drop(name: string): Promise<void> {
  return onServer(inject("postgresUrl"), `drop database if exists ${name} with (force)`);
}

async function onServer(url: string, statement: string): Promise<void> {
  await withClient(url, (client) => client.query(statement));
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
