import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ChainReader } from "../../../service/enrich/chain-reader.ts";
import { createBusyWorld, fail, type Rows } from "./busy-world.ts";
import { allRows, type EnrichWorld, enrichAll, forgetAll, rowsOf } from "./enrich-world.ts";

let world: EnrichWorld;
let whole: Rows;

beforeAll(async () => {
  ({ world, whole } = await createBusyWorld());
});
afterAll(() => world.close());
beforeEach(() => forgetAll(world));

const width = (filter: { from: number; to: number }) => filter.to - filter.from + 1;

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

  test("down to one block, and then it is a failure that says so", async () => {
    const widths: number[] = [];
    const never = (real: ChainReader): ChainReader => ({
      ...real,
      logs: (filter) => {
        widths.push(width(filter));
        return fail("timeout")();
      },
    });
    await expect(enrichAll(world, { wrap: never })).rejects.toMatchObject({ kind: "timeout" });
    expect(widths.at(-1)).toBe(1);
    expect(widths.length).toBeLessThan(40);
    expect(await rowsOf(world, "enrich_cursor")).toEqual([]);
  });

  test("or answers more than we take is asked for less", async () => {
    await enrichAll(world, { limits: { maxLogs: 2 } });
    expect(await allRows(world)).toEqual(whole);
  });

  test.each([
    { maxBlocks: 1, maxWallets: 1 },
    { maxBlocks: 7, maxWallets: 2 },
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

test("a node without eth_getBlockReceipts gives the same by each call's receipt, and the rows say so", async () => {
  const { requests } = await enrichAll(world, {
    wrap: (real) => ({ ...real, blockReceipts: fail("method_missing") }),
  });
  const byTransactions = { ...whole, enrich_block: withSource(whole.enrich_block) };
  expect(await allRows(world)).toEqual(byTransactions);
  expect(requests.filter((method) => method === "eth_getTransactionReceipt")).toHaveLength(
    whole.own_call?.length ?? -1,
  );
});

function withSource(blocks: readonly unknown[] | undefined): readonly unknown[] {
  return (blocks ?? []).map((block) => Object.assign({}, block, { source: "transactions" }));
}

test("the fee that a rollup charges for posting is kept exactly", async () => {
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
