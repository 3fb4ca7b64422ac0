import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";
import { type Database, openDatabase } from "../../service/db/database.ts";
import type { RoleName } from "../../service/db/role-rights.ts";

export type TestDatabase = { readonly url: string; readonly drop: () => Promise<void> };

/** A migrated database of its own on the run's PostgreSQL: a copy of the one that was migrated for the run. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const database = await createCopy(inject("migratedDatabase"));
  // A copy has the rights on what it holds, and none on itself.
  await onServer(
    database.url,
    `grant create on database ${new URL(database.url).pathname.slice(1)} to ahs_index`,
  );
  return database;
}

/** The URL by which a process of that role reaches a database of the run's PostgreSQL. */
export function urlForRole(databaseUrl: string, role: RoleName): string {
  const url = new URL(databaseUrl);
  url.username = `${role}_test`;
  url.password = inject("rolePassword");
  return url.href;
}

/** A database of its own that was never migrated. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createCopy("template1");
}

async function createCopy(template: string): Promise<TestDatabase> {
  const server = inject("postgresUrl");
  const name = `test_${randomBytes(6).toString("hex")}`;
  await onServer(server, `create database ${name} template ${template}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(server, `drop database if exists ${name} with (force)`) };
}

/** Opens a migrated database; the caller ends the pool. */
export function openMigrated(url: string): Database {
  return openDatabase({
    url,
    applicationName: "ahs-test",
    maxConnections: 10,
    statementTimeoutMs: 30_000,
    connectTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
}

/** A migrated database of its own, and what closes and drops it. */
export async function openTestDatabase(): Promise<{ db: Database; close: () => Promise<void> }> {
  const { url, drop } = await createTestDatabase();
  const db = openMigrated(url);
  const close = async () => {
    await db.$client.end();
    await drop();
  };
  return { db, close };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
