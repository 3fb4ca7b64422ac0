import { describe, expect, test } from "vitest";
import { readAsOf, readFinalized, readNewest } from "../../../service/ingest/read-as-of.ts";
import { DAY } from "../model/features/histories.ts";
import { blockHash, enrichTo, finalize } from "../model/features/index-tables.ts";
import { asOf, blockAt, CHAIN, SCHEMA, useRowsWorld } from "../scores/read/rows-world.ts";

const world = useRowsWorld();

test("there is no block to score at before there is an index", async () => {
  await world.client.query(`drop schema ${SCHEMA} cascade`);
  expect(await readFinalized(world.client, CHAIN.chainId)).toBeNull();
  expect(await readAsOf(world.client, CHAIN.chainId)).toBeNull();
  expect(await readNewest(world.client, CHAIN.chainId)).toBeNull();
});

describe("an index of 400 days with a block a day", () => {
  test("scores at the newest block that is both finalized and enriched", async () => {
    expect(await readAsOf(world.client, CHAIN.chainId)).toBeNull();
    await finalize(world.client, SCHEMA, blockAt(300));
    expect(await readFinalized(world.client, CHAIN.chainId)).toEqual(asOf(300));
    expect(await readAsOf(world.client, CHAIN.chainId)).toBeNull();
    await enrichTo(world.client, SCHEMA, 300);
    expect(await readAsOf(world.client, CHAIN.chainId)).toEqual(asOf(300));
    expect(await readNewest(world.client, CHAIN.chainId)).toEqual({ asOf: asOf(400), enriched: asOf(300) });
  });

  test("scores at no block while enrichment is far behind, or of another chain, or ahead of what is final", async () => {
    await finalize(world.client, SCHEMA, blockAt(300));
    await enrichTo(world.client, SCHEMA, 299);
    expect(await readAsOf(world.client, CHAIN.chainId)).toBeNull();
    await world.client.query(
      `update ${SCHEMA}.block set timestamp = timestamp + ${DAY - 3_600} where number = 299`,
    );
    expect((await readAsOf(world.client, CHAIN.chainId))?.blockNumber).toBe(299);
    await enrichTo(world.client, SCHEMA, 301);
    expect(await readAsOf(world.client, CHAIN.chainId)).toBeNull();
    await enrichTo(world.client, SCHEMA, 300);
    await world.client.query("update ahs.enrich_cursor set block_hash = $1", [blockHash(7)]);
    expect(await readAsOf(world.client, CHAIN.chainId)).toBeNull();
  });

  test("takes the newest block that the index holds where the finalized one is missing", async () => {
    await finalize(world.client, SCHEMA, blockAt(300));
    await world.client.query(`delete from ${SCHEMA}.block where number = 300`);
    expect(await readFinalized(world.client, CHAIN.chainId)).toEqual(asOf(299));
  });
});
