import { Registry } from "prom-client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ChainReader } from "../../../../service/chain/node/chain-reader.ts";
import { createEnrichMetrics } from "../../../../service/ingest/enrich/context.ts";
import { createBusyWorld, fail, type Rows, WALLETS } from "./busy-world.ts";
import { allRows, type EnrichWorld, enrichAll, forgetAll, rowsOf, SCHEMA } from "./enrich-world.ts";

const OTHER_HASH = `0x${"0b".repeat(32)}` as const;

let world: EnrichWorld;
let whole: Rows;

beforeAll(async () => {
  ({ world, whole } = await createBusyWorld());
  expect(whole.own_call).toHaveLength(11);
  expect(whole.enrich_transfer).toHaveLength(10);
  expect(whole.enrich_approval).toHaveLength(1);
});
afterAll(() => world.close());
beforeEach(() => forgetAll(world));

describe("a node that does not give the range leaves cursor and rows as they were", () => {
  test.each<[string, string, (real: ChainReader) => Partial<ChainReader>]>([
    ["out of reach", "unreachable", () => ({ logs: fail("unreachable") })],
    ["limiting the rate", "rate_limited", () => ({ header: fail("rate_limited") })],
    ["that lost a whole block", "node_behind", () => ({ header: async () => null })],
    [
      "of another chain",
      "other_chain",
      () => ({ header: async (number) => ({ number, hash: OTHER_HASH, timestamp: 1 }) }),
    ],
    ["without the receipts", "node_behind", () => ({ blockReceipts: async () => null })],
    ["leaving out a receipt", "inconsistent", () => ({ blockReceipts: async () => [] })],
    [
      "giving receipts of another block",
      "other_chain",
      (real) => ({
        blockReceipts: async (block) =>
          (await real.blockReceipts(block))?.map((receipt) => ({ ...receipt, blockHash: OTHER_HASH })) ??
          null,
      }),
    ],
    [
      "whose receipts have no logs in them but words",
      "garbage",
      (real) => ({
        blockReceipts: async (block) =>
          (await real.blockReceipts(block))?.map((receipt) => ({ ...receipt, logs: ["log"] })) ?? null,
      }),
    ],
    [
      "giving logs of another block",
      "other_chain",
      (real) => ({
        logs: async (filter) => (await real.logs(filter)).map((log) => ({ ...log, blockHash: OTHER_HASH })),
      }),
    ],
    [
      "giving logs outside the range",
      "inconsistent",
      (real) => ({
        logs: async (filter) =>
          (await real.logs(filter)).map((log) => ({ ...log, blockNumber: filter.to + 1 })),
      }),
    ],
  ])("%s: %s", async (_name, kind, wrap) => {
    await expect(enrichAll(world, { wrap: (real) => ({ ...real, ...wrap(real) }) })).rejects.toMatchObject({
      kind,
    });
    expect(await rowsOf(world, "enrich_cursor")).toEqual([]);
    expect(Object.values(await allRows(world)).flat()).toEqual([]);
    await enrichAll(world);
    expect(await allRows(world)).toEqual(whole);
  });

  test("leaving out a log that an own call's receipt has: inconsistent", async () => {
    const blind = (real: ChainReader): ChainReader => ({ ...real, logs: async () => [] });
    await expect(enrichAll(world, { wrap: blind })).rejects.toMatchObject({ kind: "inconsistent" });
    expect(await rowsOf(world, "enrich_cursor")).toEqual([]);
    await enrichAll(world);
    expect(await allRows(world)).toEqual(whole);
  });

  test("and a cursor that the chain does not know: other_chain", async () => {
    await enrichAll(world);
    await world.chain.mine(1);
    await world.index();
    await world.client.query("update ahs.enrich_cursor set block_hash = $1", [OTHER_HASH]);
    const before = await rowsOf(world, "enrich_cursor");
    await expect(enrichAll(world)).rejects.toMatchObject({ kind: "other_chain" });
    expect(await rowsOf(world, "enrich_cursor")).toEqual(before);
  });
});

test("reports its lag while the node does not answer, and the written rows afterwards", async () => {
  const metrics = createEnrichMetrics(new Registry());
  const head = await world.index();
  const first = await world.client.query(`select min(followed_block)::int as block from ${SCHEMA}.wallet`);
  const deaf = (real: ChainReader): ChainReader => ({ ...real, header: fail("unreachable") });
  await expect(enrichAll(world, { metrics, wrap: deaf })).rejects.toMatchObject({ kind: "unreachable" });
  const lag = async () => (await metrics.lagBlocks.get()).values.map(({ value }) => value);
  expect(await lag()).toEqual([head - first.rows[0].block + 1]);
  await enrichAll(world, { metrics });
  expect(await lag()).toEqual([0]);
  const { values } = await metrics.rows.get();
  expect(new Map(values.map(({ labels, value }) => [labels.table, value]))).toEqual(
    new Map([
      ["calls", whole.own_call?.length],
      // Every block is sampled.
      ["blocks", head - first.rows[0].block + 1],
      ["sampledContacts", expect.any(Number)],
      ["transfers", whole.enrich_transfer?.length],
      ["approvals", whole.enrich_approval?.length],
      ["userOperations", 0],
      ["delegations", WALLETS.length],
      ["creations", 0],
      ["prices", 3],
    ]),
  );
});
