import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ChainReader } from "../../../../service/chain/node/chain-reader.ts";
import { createBusyWorld, FIRST, type Rows, SECOND, WALLETS } from "./busy-world.ts";
import { allRows, CHAIN_ID, type EnrichWorld, enrichAll, forgetAll, rowsOf, SCHEMA } from "./enrich-world.ts";

let world: EnrichWorld;
let whole: Rows;

beforeAll(async () => {
  ({ world, whole } = await createBusyWorld());
});
afterAll(() => world.close());
beforeEach(() => forgetAll(world));

describe("wallets that come late", () => {
  test("have their past since they are followed, as if they had always been read for", async () => {
    const { rows } = await world.client.query(
      `delete from ${SCHEMA}.wallet where address = any($1) returning *`,
      [[SECOND, WALLETS[3]]],
    );
    await enrichAll(world);
    expect(await allRows(world)).not.toEqual(whole);
    await refollow(rows);
    await enrichAll(world, { limits: { maxBlocks: 6 } });
    expect(await allRows(world)).toEqual(whole);
    const open = (await rowsOf(world, "enrich_wallet")).filter((row) => row.past_next !== null);
    expect(open).toEqual([]);
  });

  test("and a wallet followed since an earlier block than before has what lies between", async () => {
    const early = await world.client.query(`select followed_block from ${SCHEMA}.wallet where address = $1`, [
      FIRST,
    ]);
    const since = (block: string) =>
      world.client.query(`update ${SCHEMA}.wallet set followed_block = $2 where address = $1`, [
        FIRST,
        block,
      ]);
    await since(String((await world.chain.head()) - 3));
    await enrichAll(world);
    await since(early.rows[0].followed_block);
    await enrichAll(world);
    expect(await allRows(world)).toEqual(whole);
  });

  test("and one that was dropped for a while misses nothing of it", async () => {
    await enrichAll(world);
    const { rows } = await world.client.query(`delete from ${SCHEMA}.wallet where address = $1 returning *`, [
      FIRST,
    ]);
    await world.mint(world.chain.contracts.usdc, FIRST, 1n);
    await world.index();
    await enrichAll(world);
    const { enrich_block: blocks = [], sampled_contact: users, ...others } = await allRows(world);
    expect({ ...others, enrich_block: blocks.slice(0, -1), sampled_contact: whole.sampled_contact }).toEqual(
      whole,
    );
    await refollow(rows);
    await enrichAll(world);
    expect(await rowsOf(world, "sampled_contact")).toEqual(users);
    expect((await rowsOf(world, "enrich_transfer")).length).toBe((whole.enrich_transfer?.length ?? 0) + 1);
    whole = await allRows(world);
  });

  async function refollow(rows: readonly Record<string, unknown>[]): Promise<void> {
    for (const row of rows) {
      await world.client.query(
        `insert into ${SCHEMA}.wallet select * from json_populate_record(null::${SCHEMA}.wallet, $1)`,
        [JSON.stringify(row)],
      );
    }
  }
});

describe("concurrent changes of another process", () => {
  test("two at once store everything once", async () => {
    const limits = { maxBlocks: 3 };
    await Promise.all([enrichAll(world, { limits }), enrichAll(world, { limits })]);
    await enrichAll(world);
    expect(await allRows(world)).toEqual(whole);
  });

  test("calls that a history source reported first get their receipts, and are counted once", async () => {
    await enrichAll(world);
    await world.client.query(
      `update ahs.own_call set source = 'explorer', effect = null, logs = null, emitters = null, moves = null,
         market_price_wei = null`,
    );
    await world.client.query(
      "truncate ahs.contact, ahs.sampled_contact, ahs.enrich_cursor, ahs.enrich_wallet",
    );
    await world.client.query("truncate ahs.enrich_block, ahs.enrich_transfer");
    await enrichAll(world);
    expect(await allRows(world)).toEqual(whole);
  });

  test("nothing of a chain is stored that was replaced while it was read", async () => {
    const replaced = (real: ChainReader): ChainReader => ({
      ...real,
      header: async (block) => {
        await world.client.query("update ahs.chain_mark set generation = 'second' where chain_id = $1", [
          CHAIN_ID,
        ]);
        return real.header(block);
      },
    });
    await enrichAll(world, { wrap: replaced });
    expect(await rowsOf(world, "enrich_cursor")).toEqual([]);
    expect(Object.values(await allRows(world)).flat()).toEqual([]);
    await enrichAll(world);
    expect(await allRows(world)).toEqual(whole);
  });

  test("nothing happens before the chain has its mark, or while a new index is behind", async () => {
    await world.client.query("update ahs.chain_mark set chain_id = 1");
    expect((await enrichAll(world)).requests).toEqual([]);
    await world.client.query("update ahs.chain_mark set chain_id = $1", [CHAIN_ID]);
    await enrichAll(world);
    await world.client.query("update ahs.enrich_cursor set block = block + 1000");
    await world.client.query(`create table kept as select * from ${SCHEMA}.wallet`);
    await world.client.query(`delete from ${SCHEMA}.wallet`);
    const before = await rowsOf(world, "enrich_wallet");
    expect((await enrichAll(world)).requests).toEqual([]);
    expect(await rowsOf(world, "enrich_wallet")).toEqual(before);
    await world.client.query(`insert into ${SCHEMA}.wallet select * from kept`);
  });
});
