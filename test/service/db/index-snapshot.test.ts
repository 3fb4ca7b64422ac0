import type { QueryConfig } from "pg";
import { expect, test } from "vitest";
import type { Database } from "../../../service/db/database.ts";
import { readSnapshot, readSnapshotInTime } from "../../../service/db/index-snapshot.ts";
import { useDatabase } from "../../support/test-database.ts";

const db = useDatabase();

const LEVEL = "select current_setting('transaction_isolation') as level, $1::int as number";

test("reads that a request waits for see one snapshot, and each is given up after the deadline of queries", async () => {
  const asked: (string | QueryConfig)[] = [];
  const spy = (): Database =>
    new Proxy(db, {
      get: (target, property) => (property === "$client" ? { connect } : Reflect.get(target, property)),
    });
  const connect = async () => {
    const client = await db.$client.connect();
    return new Proxy(client, {
      get: (target, property) =>
        property !== "query"
          ? Reflect.get(target, property)
          : (config: QueryConfig, values?: unknown[]) => {
              asked.push(config);
              return target.query(config, values);
            },
    });
  };
  const read = await readSnapshotInTime(spy(), async (client) => [
    (await client.query(LEVEL, [1])).rows[0],
    (await client.query({ text: LEVEL, values: [2] })).rows[0],
    (await client.query({ name: "level", text: LEVEL, rowMode: "array" }, [3])).rows[0],
  ]);
  expect(read).toEqual([
    { level: "repeatable read", number: 1 },
    { level: "repeatable read", number: 2 },
    ["repeatable read", 3],
  ]);
  expect(asked.slice(1, -1)).toEqual([
    { query_timeout: 5_000, text: LEVEL },
    { query_timeout: 5_000, text: LEVEL, values: [2] },
    { query_timeout: 5_000, name: "level", text: LEVEL, rowMode: "array" },
  ]);
});

test("a failed read leaves a connection that can be used", async () => {
  await expect(readSnapshot(db, (client) => client.query("select 1 / 0"))).rejects.toThrow("division");
  await expect(readSnapshotInTime(db, (client) => client.query("select 1 / 0"))).rejects.toThrow("division");
  const { rows } = await readSnapshotInTime(db, (client) => client.query("select 1 as one"));
  expect(rows).toEqual([{ one: 1 }]);
});

test("reads that the server ends to solve a deadlock run again", async () => {
  await db.$client.query("create table public.first_lock (); create table public.second_lock ()");
  const other = await db.$client.connect();
  const runs: number[] = [];
  // The reader is the one whose wait is found to be a deadlock.
  await other.query("begin; set local deadlock_timeout = '60s'; lock table public.second_lock");
  let waits: Promise<unknown> = Promise.resolve();
  const rows = await readSnapshot(db, async (client) => {
    runs.push(runs.length);
    if (runs.length > 1) await waits;
    await client.query("select from public.first_lock");
    if (runs.length === 1)
      waits = other.query("lock table public.first_lock").then(() => other.query("commit"));
    return (await client.query("select from public.second_lock")).rowCount;
  });
  other.release();
  expect([rows, runs]).toEqual([0, [0, 1]]);
});

test("a statement that the server ends to solve a deadlock runs again", async () => {
  await db.$client.query("create table public.third_lock (); create table public.fourth_lock ()");
  await db.$client.query(`
    create function public.read_both() returns bigint language plpgsql as $$
    begin
      perform from public.third_lock;
      perform pg_sleep(0.3);
      return (select count(*) from public.fourth_lock);
    end $$`);
  const other = await db.$client.connect();
  await other.query("begin; set local deadlock_timeout = '60s'; lock table public.fourth_lock");
  const reading = db.$client.query("select public.read_both() as count");
  await new Promise((resolve) => setTimeout(resolve, 150));
  await other.query("lock table public.third_lock");
  await other.query("commit");
  other.release();
  expect((await reading).rows).toEqual([{ count: "0" }]);
});
