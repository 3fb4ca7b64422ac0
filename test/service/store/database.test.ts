import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrateDatabase, openDatabase, requireMigrated } from "../../../service/store/database.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";

const STATEMENT_TIMEOUT_MS = 300;
let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

function open() {
  return openDatabase({
    url: database.url,
    applicationName: "ahs-test",
    maxConnections: 4,
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

test("a database that lacks a migration is refused, with what to do", async () => {
  const db = open();
  await expect(requireMigrated(db)).rejects.toThrow('run "ahs migrate" on it first');
  await db.$client.end();
});
