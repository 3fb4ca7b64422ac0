import { afterEach, beforeEach, expect, test } from "vitest";
import { scoreNow } from "../../../service/record/score-now.ts";
import { holdChain } from "../../../service/store/chain-fence.ts";
import { resetChain } from "../../../service/store/reset-chain.ts";
import { account } from "../features/histories.ts";
import { CHAIN_ID, createRecordWorld, type RecordWorld } from "../record/record-world.ts";

let world: RecordWorld;

beforeEach(async () => {
  world = await createRecordWorld();
});
afterEach(() => world.close());

test("a reset clears the scores and the index of the chain", async () => {
  await world.follow(account(1), 1);
  await scoreNow(world.context, account(1));
  expect(await world.countScores()).toBe(1);
  await world.db.$client.query("create schema index_31337_abc; create schema index_313370_abc");
  await resetChain(world.db, CHAIN_ID);
  expect(await world.countScores()).toBe(0);
  const { rows } = await world.db.$client.query(
    "select schema_name from information_schema.schemata where schema_name like '%31337%'",
  );
  expect(rows).toEqual([{ schema_name: "index_313370_abc" }]);
});

test("of our tables only those are kept that people paid for or cared by", async () => {
  const { rows } = await world.db.$client.query(
    `select table_name from information_schema.columns
     where table_schema = 'ahs' and column_name = 'chain_id' order by table_name`,
  );
  for (const { table_name } of rows) await fill(table_name);
  await resetChain(world.db, CHAIN_ID);
  const kept: string[] = [];
  for (const { table_name } of rows) {
    const { rowCount } = await world.db.$client.query(`select 1 from ahs."${table_name}"`);
    if (rowCount !== 0) kept.push(table_name);
  }
  expect(kept).toEqual(["alert_subscription", "payment", "wallet_interest"]);
});

test("what is being written from the chain when it is reset is cleared as well", async () => {
  let isReset = false;
  let reset: Promise<void> = Promise.resolve();
  await world.db.transaction(async (tx) => {
    await holdChain(tx, CHAIN_ID);
    reset = resetChain(world.db, CHAIN_ID).then(() => {
      isReset = true;
    });
    await waitingForLock();
    expect(isReset).toBe(false);
    await tx.execute(
      `insert into ahs.chain_mark (chain_id, block_number, block_hash, generation) values (${CHAIN_ID}, 1, '0x', 'old')`,
    );
  });
  await reset;
  expect((await world.db.$client.query("select * from ahs.chain_mark")).rows).toEqual([]);
});

async function waitingForLock(): Promise<void> {
  await expect
    .poll(async () => {
      const { rows } = await world.db.$client.query(
        "select 1 from pg_locks where locktype = 'advisory' and not granted",
      );
      return rows.length;
    })
    .toBe(1);
}

/** One row of the chain, unless it has one, with whatever its columns take; what refers to other rows refers to row 1. */
async function fill(table: string): Promise<void> {
  const { rows } = await world.db.$client.query<{ name: string; type: string; identity: string }>(
    `select column_name as name, udt_name as type, is_identity as identity from information_schema.columns
     where table_schema = 'ahs' and table_name = $1 and is_nullable = 'NO' and column_name <> 'chain_id'`,
    [table],
  );
  const columns = rows.filter(({ identity }) => identity === "NO");
  const names = ["chain_id", ...columns.map(({ name }) => name)].map((name) => `"${name}"`).join(", ");
  const values = [CHAIN_ID, ...columns.map(({ type }) => VALUES[type])].join(", ");
  const client = await world.db.$client.connect();
  // Rows may come before what they refer to.
  await client.query("set session_replication_role = replica");
  await client.query(`insert into ahs."${table}" (${names}) values (${values}) on conflict do nothing`);
  await client.query("set session_replication_role = default");
  client.release();
}

const VALUES: Readonly<Record<string, string>> = {
  int4: "1",
  int8: "1",
  numeric: "1",
  text: "'1'",
  bool: "false",
  jsonb: "'[]'",
  timestamptz: "now()",
  _text: "'{}'",
  uuid: "gen_random_uuid()",
};
