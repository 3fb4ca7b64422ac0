import type { Client } from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Database } from "../../../service/db/database.ts";
import {
  dropBuild,
  dropReplacedViews,
  readBuilds,
  readLead,
  readServedBuild,
  readTransactions,
  showBuild,
} from "../../../service/db/index-builds.ts";
import { startServer } from "../../support/postgres-server.ts";
import { createTestDatabase, openMigrated, type TestDatabase } from "../../support/test-database.ts";
import { until } from "../../support/until.ts";
import { connectTo, createIndexBuild } from "./index-build.ts";

const CHAIN_ID = 31_337;
const OLD = { chainId: CHAIN_ID, schema: "index_31337_0a" };
const NEW = { chainId: CHAIN_ID, schema: "index_31337_0b" };
const NEWEST = "select max(number)::int as newest from chain_31337.block";

let database: TestDatabase;
let db: Database;
let other: Client;

beforeEach(async () => {
  database = await createTestDatabase();
  db = openMigrated(database.url);
  other = await connectTo(database.url);
  await createIndexBuild(db.$client, { ...OLD, newest: 10, finalized: 5, at: new Date(1_000) });
  await showBuild(db.$client, OLD);
});
afterEach(async () => {
  await other.end();
  await db.$client.end();
  await database.drop();
});

test("readers are served from a build only once it is whole, and has every final block of the one before", async () => {
  await createIndexBuild(db.$client, { ...NEW, newest: 9, finalized: 4, at: new Date(2_000) });
  expect(await readLead(db.$client, NEW)).toEqual({ newest: -1, finalized: -1 });
  expect(await showBuild(db.$client, NEW)).toBe(false);
  await db.$client.query(
    `update ${NEW.schema}._ponder_checkpoint set finalized_checkpoint = replace(finalized_checkpoint, '4', '6')`,
  );
  await db.$client.query(`update ${NEW.schema}._ponder_meta set value = '{"is_ready": 0}'`);
  expect(await readLead(db.$client, NEW)).toBeNull();
  expect(await showBuild(db.$client, NEW)).toBe(false);
  expect(await readServedBuild(db.$client, CHAIN_ID)).toBe(OLD.schema);
  await db.$client.query(`update ${NEW.schema}._ponder_meta set value = '{"is_ready": 1}'`);
  // It lacks the newest block, which a caller may put up with.
  expect([await showBuild(db.$client, NEW), await showBuild(db.$client, NEW, -1)]).toEqual([false, true]);
  expect(await readServedBuild(db.$client, CHAIN_ID)).toBe(NEW.schema);
});

test("a reader within a database transaction blocks no other session, and is not blocked", async () => {
  await createIndexBuild(db.$client, { ...NEW, newest: 11, finalized: 6, at: new Date(2_000) });
  await other.query("begin isolation level repeatable read");
  expect((await other.query(NEWEST)).rows).toEqual([{ newest: 10 }]);
  expect(await showBuild(db.$client, NEW)).toBe(true);
  expect((await db.$client.query(NEWEST)).rows).toEqual([{ newest: 11 }]);
  expect((await other.query({ name: "again", text: NEWEST })).rows).toEqual([{ newest: 11 }]);
  expect(await dropReplacedViews(db.$client, CHAIN_ID)).toBe(false);
  await other.query("commit");
  expect(await dropReplacedViews(db.$client, CHAIN_ID)).toBe(true);
  expect((await other.query({ name: "again", text: NEWEST })).rows).toEqual([{ newest: 11 }]);
});

test("transactions that are under way are known, so that their end can be waited for", async () => {
  const before = await readTransactions(db.$client);
  await other.query("begin isolation level repeatable read read only");
  await other.query("select 1");
  const during = await readTransactions(db.$client);
  expect(during.filter((id) => !before.includes(id))).toHaveLength(1);
  await other.query("commit");
  expect(await readTransactions(db.$client)).not.toContain(during.find((id) => !before.includes(id)));
});

test("the work of autovacuum is no transaction that is waited for", async () => {
  const server = await startServer();
  const client = await connectTo(server.url);
  const pool = openMigrated(server.url);
  await client.query("alter system set autovacuum = on");
  await client.query("alter system set autovacuum_naptime = 1");
  await client.query("select pg_reload_conf()");
  // It rests after each page.
  await client.query(
    `create table slow (n int) with (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_cost_delay = 100,
       autovacuum_vacuum_cost_limit = 1)`,
  );
  await client.query("insert into slow select generate_series(1, 100000)");
  await client.query("delete from slow");
  await until({ what: "autovacuum works on the database" }, async () => {
    const { rowCount } = await client.query(
      `select from pg_stat_activity a join pg_locks l on l.pid = a.pid and l.locktype = 'virtualxid'
       where a.datname = current_database() and a.backend_type = 'autovacuum worker'`,
    );
    return rowCount === 0 ? null : true;
  });
  expect(await readTransactions(pool.$client)).toEqual([]);
  await pool.$client.end();
  await client.end();
  await server.stop();
});

test("drops only builds without readers and indexer", async () => {
  await createIndexBuild(db.$client, { ...NEW, newest: 11, finalized: 6, at: new Date(2_000) });
  await other.query("select pg_advisory_lock(hashtext($1))", [NEW.schema]);
  expect(await readBuilds(db.$client, CHAIN_ID)).toEqual([
    { schema: NEW.schema, startedAt: "1970-01-01T00:00:02.000Z", isServed: false, isRunning: true },
    { schema: OLD.schema, startedAt: "1970-01-01T00:00:01.000Z", isServed: true, isRunning: false },
  ]);
  expect([await dropBuild(db.$client, NEW), await dropBuild(db.$client, OLD)]).toEqual([false, false]);
  await showBuild(db.$client, NEW);
  expect(await dropBuild(db.$client, OLD)).toBe(true);
  expect((await db.$client.query(NEWEST)).rows).toEqual([{ newest: 11 }]);
  expect((await readBuilds(db.$client, CHAIN_ID)).map(({ schema }) => schema)).toEqual([NEW.schema]);
});
