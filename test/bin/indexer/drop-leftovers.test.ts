import { beforeAll, expect, test } from "vitest";
import { dropLeftovers } from "../../../bin/indexer/take-over.ts";
import { useDatabase } from "../../support/test-database.ts";

const db = useDatabase();
beforeAll(async () => {
  await db.$client.query(`
    create schema left_over;
    create function left_over.tell() returns trigger language plpgsql as 'begin return null; end';
    create table left_over.agent (id int primary key, owner text);
    create table left_over.call (id int primary key, agent int);
    create index call_agent on left_over.call (agent);
    create trigger agent_tell after insert on left_over.agent execute function left_over.tell();
    create trigger call_tell after insert on left_over.call execute function left_over.tell();`);
});

test("a reader of several tables goes on while triggers and indexes of a killed indexer are dropped, and keys stay", async () => {
  const [reader, indexer] = await Promise.all([db.$client.connect(), db.$client.connect()]);
  await reader.query("begin");
  await reader.query("select from left_over.call");
  const { rows: backends } = await indexer.query<{ pid: number }>("select pg_backend_pid() as pid");
  const dropping = dropLeftovers(indexer, "left_over");
  await untilWaiting(Number(backends[0]?.pid));
  // Dropping everything in one transaction would hold this table's lock now and deadlock with the reader.
  await reader.query("select from left_over.agent");
  await reader.query("commit");
  await dropping;
  for (const client of [reader, indexer]) client.release();

  const { rows } = await db.$client.query(
    "select indexname from pg_indexes where schemaname = 'left_over' order by 1",
  );
  expect(rows.map(({ indexname }) => indexname)).toEqual(["agent_pkey", "call_pkey"]);
  const triggers = await db.$client.query(
    `select from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = 'left_over'::regnamespace and not t.tgisinternal`,
  );
  expect(triggers.rowCount).toBe(0);
});

async function untilWaiting(pid: number): Promise<void> {
  const waits = async () => {
    const { rowCount } = await db.$client.query(
      "select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'",
      [pid],
    );
    return rowCount;
  };
  await expect.poll(waits).toBe(1);
}
