import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";
import { type Database, migrateDatabase, openDatabase } from "../../service/store/database.ts";

export type TestDatabase = { readonly url: string; readonly drop: () => Promise<void> };

/** An empty database of its own on the run's PostgreSQL. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject("postgresUrl");
  const name = `test_${randomBytes(6).toString("hex")}`;
  await onServer(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(server, `drop database if exists ${name} with (force)`) };
}

/** Opens a database and brings it to the newest schema; the caller ends the pool. */
export async function openMigrated(url: string): Promise<Database> {
  const db = openDatabase({
    url,
    applicationName: "ahs-test",
    maxConnections: 10,
    statementTimeoutMs: 30_000,
    connectTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
  await migrateDatabase(db);
  return db;
}

/** A migrated database of its own, and what closes and drops it. */
export async function openTestDatabase(): Promise<{ db: Database; close: () => Promise<void> }> {
  const { url, drop } = await createTestDatabase();
  const db = await openMigrated(url);
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
