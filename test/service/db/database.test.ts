import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  migrateDatabase,
  openDatabase,
  requireMigrated,
  withOwnNames,
} from "../../../service/db/database.ts";
import { createEmptyDatabase, type TestDatabase } from "../../support/test-database.ts";

const STATEMENT_TIMEOUT_MS = 300;
let database: TestDatabase;

beforeEach(async () => {
  database = await createEmptyDatabase();
});
afterEach(() => database.drop());

function open({ maxConnections } = { maxConnections: 4 }) {
  return openDatabase({
    url: database.url,
    applicationName: "ahs-test",
    maxConnections,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    connectTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
}

test("a migration waits for another one for longer than a statement may take, and leaves that limit as it was", async () => {
  const db = open();
  const other = await db.$client.connect();
  await other.query("select pg_advisory_lock(hashtext('ahs-migrate'))");
  const migrated = migrateDatabase(db);
  await sleep(2 * STATEMENT_TIMEOUT_MS);
  await other.query("select pg_advisory_unlock(hashtext('ahs-migrate'))");
  other.release();
  await migrated;
  await requireMigrated(db);
  const { rows } = await db.$client.query("select current_setting('statement_timeout') as timeout");
  expect(rows).toEqual([{ timeout: `${STATEMENT_TIMEOUT_MS}ms` }]);
  await expect(db.$client.query("select pg_sleep(2)")).rejects.toThrow("statement timeout");
  await db.$client.end();
});

test("refuses a database that lacks a migration, and says how to apply it", async () => {
  const db = open();
  await expect(requireMigrated(db)).rejects.toThrow('run "ahs migrate" on it first');
  await db.$client.end();
});

test("a transaction that cannot begin gives its connection back", async () => {
  const db = open({ maxConnections: 1 });
  // A level that PostgreSQL does not know stands for whatever a BEGIN can fail of.
  const unknown = { isolationLevel: "no such level" as "serializable" };
  await expect(db.transaction(async () => undefined, unknown)).rejects.toThrow();
  const { rows } = await db.transaction((tx) => tx.execute<{ one: number }>("select 1 as one"));
  expect(rows).toEqual([{ one: 1 }]);
  await db.$client.end();
});

const OWN = "-c search_path=pg_catalog";

test.each([
  ["postgres://u:p@h:5433/db", null, { host: "h", options: OWN }],
  [
    "postgres://u:p@h/db?host=/run/pg",
    "-c work_mem=1MB",
    { host: "/run/pg", options: `-c work_mem=1MB ${OWN}` },
  ],
  ["postgres://u:p@/db?host=/run/pg", null, { host: "/run/pg", options: OWN }],
  ["postgres://u:p w@h/db", null, { host: "h", password: "p w", options: OWN }],
  ["postgres://u:p%26w@h/db", null, { host: "h", password: "p&w", options: OWN }],
  // The last one counts.
  [
    "postgres://u:p@h/db?options=-c%20search_path%3Dpublic&application_name=a",
    null,
    { host: "h", options: `-c search_path=public ${OWN}`, application_name: "a" },
  ],
])("%s has names without a schema be PostgreSQL's own", (url, options, expected) => {
  const { connectionParameters } = new Client({
    connectionString: withOwnNames(url, options),
  }) as unknown as {
    connectionParameters: object;
  };
  expect(connectionParameters).toMatchObject({ user: "u", database: "db", ...expected });
});
