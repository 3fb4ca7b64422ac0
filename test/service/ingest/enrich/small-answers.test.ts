import { type Address, pad } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ChainReader, LogFilter } from "../../../../service/chain/node/chain-reader.ts";
import { APPROVAL, TRANSFER } from "../../../../service/chain/node/rpc-answers.ts";
import type { EnrichMetrics } from "../../../../service/ingest/enrich/context.ts";
import { createBusyWorld, FIRST, fail, type Rows } from "./busy-world.ts";
import { allRows, type EnrichWorld, enrichAll, forgetAll, rowsOf, SCHEMA } from "./enrich-world.ts";

let world: EnrichWorld;
let whole: Rows;

beforeAll(async () => {
  ({ world, whole } = await createBusyWorld());
});
afterAll(() => world.close());
beforeEach(() => forgetAll(world));

const width = (filter: { from: number; to: number }) => filter.to - filter.from + 1;

/** Whether a filter asks for at least so many wallets by their topics. */
function isOfWallets({ topics }: LogFilter, atLeast: number): boolean {
  return topics.length > 1 && (topics.at(-1)?.length ?? 0) >= atLeast;
}

/** Whether it asks, among others, for what is sent to the wallet. */
function isSentTo({ topics }: LogFilter, wallet: Address): boolean {
  return topics[0]?.includes(TRANSFER) === true && topics[2]?.includes(pad(wallet)) === true;
}

async function leftOut({ leftOut: counter }: EnrichMetrics): Promise<Record<string, number>> {
  const { values } = await counter.get();
  return Object.fromEntries(
    values.filter(({ value }) => value > 0).map(({ labels, value }) => [labels.what, value]),
  );
}

describe("a node that answers little at once", () => {
  test("is asked for less, and gives the same rows", async () => {
    const widths: number[] = [];
    const narrow = (real: ChainReader): ChainReader => ({
      ...real,
      logs: (filter) => {
        if (width(filter) > 3) return fail("too_many_results")();
        widths.push(width(filter));
        return real.logs(filter);
      },
    });
    const { metrics } = await enrichAll(world, { wrap: narrow });
    expect(Math.max(...widths)).toBeGreaterThan(1);
    expect(await allRows(world)).toEqual(whole);
    const { values } = await metrics.failures.get();
    expect(values.map(({ labels }) => labels.kind)).toEqual(["too_many_results"]);
  });

  test("down to one block, and of that to one wallet", async () => {
    const narrow = (real: ChainReader): ChainReader => ({
      ...real,
      logs: (filter) => (isOfWallets(filter, 2) ? fail("too_many_results")() : real.logs(filter)),
    });
    const { metrics } = await enrichAll(world, { wrap: narrow });
    expect(await allRows(world)).toEqual(whole);
    expect(await leftOut(metrics)).toEqual({});
  });

  test("is asked for whole blocks where those cost less, once each, and for no logs of wallets", async () => {
    const blocks: number[] = [];
    const whole16 = (real: ChainReader): ChainReader => ({
      ...real,
      logs: (filter) => (isOfWallets(filter, 1) ? fail("timeout")() : real.logs(filter)),
      receipt: fail("timeout"),
      blockReceipts: (block) => {
        blocks.push(block);
        return real.blockReceipts(block);
      },
    });
    await enrichAll(world, { wrap: whole16, limits: { maxWallets: 1, receiptsPercent: 1 } });
    expect(await allRows(world)).toEqual(whole);
    expect(new Set(blocks).size).toBe(blocks.length);
  });

  test("or answers more than we take is asked for less", async () => {
    await enrichAll(world, { limits: { maxLogs: 2 } });
    expect(await allRows(world)).toEqual(whole);
  });

  test.each([
    { maxBlocks: 1, maxWallets: 1, receiptsPercent: 10_000 },
    { maxBlocks: 7, maxWallets: 2, receiptsPercent: 10_000 },
  ])("or allows only $maxBlocks blocks and $maxWallets addresses gets no larger filter", async (limits) => {
    const filters: { blocks: number; wallets: number }[] = [];
    const watched = (real: ChainReader): ChainReader => ({
      ...real,
      logs: (filter) => {
        filters.push({
          blocks: width(filter),
          wallets: filter.topics.length > 1 ? (filter.topics.at(-1)?.length ?? 0) : 0,
        });
        return real.logs(filter);
      },
    });
    await enrichAll(world, { limits, wrap: watched });
    expect(await allRows(world)).toEqual(whole);
    expect(Math.max(...filters.map(({ blocks }) => blocks))).toBe(limits.maxBlocks);
    expect(Math.max(...filters.map(({ wallets }) => wallets))).toBe(limits.maxWallets);
  });
});

test("a range ends where it would hold too many blocks with own calls, and the next goes on", async () => {
  const asked: number[] = [];
  const counted = (real: ChainReader): ChainReader => ({
    ...real,
    logs: (filter) => {
      asked.push(filter.to);
      return real.logs(filter);
    },
  });
  await enrichAll(world, { limits: { maxCallBlocks: 2 }, wrap: counted });
  expect(await allRows(world)).toEqual(whole);
  expect(new Set(asked).size).toBeGreaterThanOrEqual((whole.enrich_block?.length ?? 0) / 2);
});

describe("sampled blocks", () => {
  const sample = { everyBlocks: 7, blocks: 3 };
  const sampling = () => ({ deployment: { ...world.chain.deployment, sample } });
  const startOf = (block: unknown) => String(Number(block) - (Number(block) % sample.everyBlocks));

  test("give the same rows whatever the ranges are, and every call the tip of its stretch", async () => {
    await enrichAll(world, sampling());
    const sampled = await allRows(world);
    const read = sampled.enrich_block?.map((row) => Number(Reflect.get(Object(row), "block"))) ?? [];
    expect(read.every((block) => block % sample.everyBlocks < sample.blocks)).toBe(true);
    expect(read.length).toBeLessThan((whole.enrich_block?.length ?? 0) / 2 + 3);
    const { rows } = await world.client.query(
      `select call.block, call.market_price_wei - indexed.base_fee_per_gas as paid, read.block as first, read.median_tip_wei as tip
       from ahs.own_call call join ${SCHEMA}.block indexed on indexed.number = call.block
       left join ahs.enrich_block read on read.block = call.block - call.block % ${sample.everyBlocks}`,
    );
    for (const { block, paid, first, tip } of rows) expect([first, paid]).toEqual([startOf(block), tip]);
    for (const limits of [{ maxBlocks: 1 }, { maxBlocks: 5 }, { maxCallBlocks: 2 }]) {
      await forgetAll(world);
      await enrichAll(world, { ...sampling(), limits });
      expect(await allRows(world)).toEqual(sampled);
    }
  });

  test("of before the index began are read from the node", async () => {
    await enrichAll(world, sampling());
    const sampled = await allRows(world);
    const copied = "create table kept_block as select * from";
    await world.client.query(
      `${copied} ${SCHEMA}.block where number < (select min(followed_block) from ${SCHEMA}.wallet)`,
    );
    await world.client.query(`delete from ${SCHEMA}.block where number in (select number from kept_block)`);
    await forgetAll(world);
    await enrichAll(world, sampling());
    await world.client.query(`insert into ${SCHEMA}.block select * from kept_block`);
    expect(await allRows(world)).toEqual(sampled);
  });
});

test("a node without eth_getBlockReceipts gives the same by each call's receipt, but for who else calls, and the rows say so", async () => {
  const { requests } = await enrichAll(world, {
    wrap: (real) => ({ ...real, blockReceipts: fail("method_missing") }),
  });
  const byTransactions = { ...whole, enrich_block: withSource(whole.enrich_block), sampled_contact: [] };
  expect(await allRows(world)).toEqual(byTransactions);
  expect(requests.filter((method) => method === "eth_getTransactionReceipt")).toHaveLength(
    whole.own_call?.length ?? -1,
  );
});

/** Sum of the calls of contacts. */
function callsIn(rows: readonly unknown[] = []): number {
  return rows.reduce((sum: number, row) => sum + Number(Reflect.get(Object(row), "calls")), 0);
}

function withSource(blocks: readonly unknown[] | undefined): readonly unknown[] {
  return (blocks ?? []).map((block) => Object.assign({}, block, { source: "transactions" }));
}

describe("data too large for any answer, even of one block, delays nothing else", () => {
  const to = (row: unknown) => (row as { to: string }).to;
  const transfers = () => whole.enrich_transfer ?? [];
  const someCall = (): { readonly block: string } => {
    const call = whole.own_call?.[2];
    if (call === undefined) throw new Error("expected own calls");
    return call as { block: string };
  };

  test("logs that strangers made of one wallet: only those are missing", async () => {
    const flooded = (real: ChainReader): ChainReader => ({
      ...real,
      logs: (filter) => (isSentTo(filter, FIRST) ? fail("too_many_results")() : real.logs(filter)),
    });
    const { metrics } = await enrichAll(world, { wrap: flooded });
    const { contact: _, ...rows } = await allRows(world);
    const { contact: __, ...others } = whole;
    expect(rows).toEqual({ ...others, enrich_transfer: transfers().filter((row) => to(row) !== FIRST) });
    const blocks = await world.index();
    expect((await leftOut(metrics)).logs).toBeGreaterThan(1);
    expect(await rowsOf(world, "enrich_cursor")).toMatchObject([{ block: String(blocks) }]);
  });

  test("logs of a wallet that its own calls' receipts have: none is missing", async () => {
    const flooded = (real: ChainReader): ChainReader => ({
      ...real,
      logs: (filter) =>
        filter.topics[0]?.includes(APPROVAL) ? fail("too_many_results")() : real.logs(filter),
    });
    await enrichAll(world, { wrap: flooded });
    expect(await allRows(world)).toEqual(whole);
  });

  test("the receipts of a whole block: its own calls are read one by one, those of other blocks are not", async () => {
    const { block } = someCall();
    const oversized = (real: ChainReader): ChainReader => ({
      ...real,
      blockReceipts: (number) =>
        number === Number(block) ? fail("too_many_results")() : real.blockReceipts(number),
    });
    const { metrics } = await enrichAll(world, { wrap: oversized });
    const blocks = whole.enrich_block?.map((row) =>
      (row as { block: string }).block === block ? Object.assign({}, row, { source: "transactions" }) : row,
    );
    const { sampled_contact: users } = await allRows(world);
    expect(await allRows(world)).toEqual({ ...whole, enrich_block: blocks, sampled_contact: users });
    expect(callsIn(users)).toBe(callsIn(whole.sampled_contact) - 1);
    expect(await leftOut(metrics)).toEqual({});
  });

  test("the receipt of an own call and the block's transactions: the call is there without them", async () => {
    const call = someCall();
    const oversized = (real: ChainReader): ChainReader => ({
      ...real,
      blockReceipts: (number) =>
        number === Number(call.block) ? fail("too_many_results")() : real.blockReceipts(number),
      receipt: fail("too_many_results"),
      blockWithTransactions: fail("too_many_results"),
    });
    const { metrics } = await enrichAll(world, { wrap: oversized });
    const rows = await allRows(world);
    const unread = {
      ...{ effect: null, logs: null, emitters: null, moves: null },
      ...{ market_price_wei: null, l1_fee_wei: null, line: expect.stringMatching(/ - - - -$/) },
    };
    expect(rows.own_call).toEqual(
      whole.own_call?.map((row) => (row === call ? Object.assign({}, row, unread) : row)),
    );
    const unknown = { transactions: null, median_tip_wei: null, source: "header" };
    expect(rows.enrich_block).toEqual(
      whole.enrich_block?.map((row) =>
        (row as { block: string }).block === call.block ? Object.assign({}, row, unknown) : row,
      ),
    );
    expect(await leftOut(metrics)).toEqual({ receipt: 1 });
  });

  test("data of one block that times out over and over is too large, once the node answers small requests", async () => {
    const { block } = someCall();
    const slow = (real: ChainReader): ChainReader => ({
      ...real,
      blockReceipts: (number) => (number === Number(block) ? fail("timeout")() : real.blockReceipts(number)),
    });
    await expect(enrichAll(world, { wrap: slow, patience: 2 })).rejects.toMatchObject({ kind: "timeout" });
    expect(await rowsOf(world, "enrich_cursor")).toMatchObject([{ block: String(Number(block) - 1) }]);
    await enrichAll(world, { wrap: slow, patience: 10 });
    const { own_call, enrich_transfer } = await allRows(world);
    expect({ own_call, enrich_transfer }).toEqual({
      own_call: whole.own_call,
      enrich_transfer: whole.enrich_transfer,
    });
    expect(await rowsOf(world, "enrich_block")).toContainEqual(
      expect.objectContaining({ block, source: "transactions" }),
    );
  });

  test.each(["timeout", "too_many_results"] as const)(
    "a node that says %s to everything is waited for, however long",
    async (kind) => {
      let asked = 0;
      const deaf = (real: ChainReader): ChainReader => ({
        ...real,
        // It falls silent once the range is begun.
        header: (block) => (++asked % 2 === 1 ? real.header(block) : fail(kind)()),
        logs: fail(kind),
      });
      const limits = { maxBlocks: 1, concurrency: 1 };
      await expect(enrichAll(world, { wrap: deaf, limits, patience: 20 })).rejects.toMatchObject({ kind });
      expect(await rowsOf(world, "enrich_cursor")).toEqual([]);
    },
  );
});

test("the fee that a rollup charges for posting is stored exactly", async () => {
  const fee = 2n ** 70n;
  const rollup = (real: ChainReader): ChainReader => ({
    ...real,
    blockReceipts: async (block) =>
      (await real.blockReceipts(block))?.map((receipt) => ({ ...receipt, l1Fee: fee })) ?? null,
  });
  await enrichAll(world, { wrap: rollup });
  const calls = await rowsOf(world, "own_call");
  expect(new Set(calls.map((call) => call.l1_fee_wei))).toEqual(new Set([String(fee)]));
});
