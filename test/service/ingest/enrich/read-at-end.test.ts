import { type Address, encodeFunctionData, type Hex, numberToHex, pad } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { priceFeedAbi } from "../../../../devnet/abi/price-feed.ts";
import type { ChainReader } from "../../../../service/chain/node/chain-reader.ts";
import { readChangedDelegations } from "../../../../service/ingest/enrich/read-delegations.ts";
import { createBusyWorld, FIRST, fail, WALLETS } from "./busy-world.ts";
import { contextOf, type EnrichWorld, enrichAll, forgetAll, rowsOf } from "./enrich-world.ts";

const DAY = 86_400;
const DELEGATE: Address = `0x${"de".repeat(20)}`;
const lower = (address: Address) => address.toLowerCase();

let world: EnrichWorld;

beforeAll(async () => {
  ({ world } = await createBusyWorld());
});
afterAll(() => world.close());
beforeEach(() => forgetAll(world));

async function answer(feed: Address, value: bigint): Promise<number> {
  const data = encodeFunctionData({ abi: priceFeedAbi, functionName: "setAnswer", args: [value] });
  const { blockNumber } = await world.chain.send({ from: FIRST, to: feed, data });
  const block = (await world.chain.rpc.request("eth_getBlockByNumber", numberToHex(blockNumber), false)) as {
    timestamp: Hex;
  };
  return Math.floor(Number(block.timestamp) / DAY);
}

async function pricesOf(feed: Address): Promise<readonly unknown[]> {
  const rows = (await rowsOf(world, "feed_price")).filter((row) => row.feed === lower(feed));
  return rows.map(({ day, answer: value, decimals }) => [day, value, decimals]);
}

describe("price feeds", () => {
  test("have the last answer of each day with one, and one that never answered what it says at the end", async () => {
    const { ethUsdFeed, usdcUsdFeed } = world.chain.contracts;
    const first = await answer(ethUsdFeed, 1_900_00000000n);
    await answer(ethUsdFeed, 1_950_00000000n);
    await world.chain.moveTime(2 * DAY);
    const last = await answer(ethUsdFeed, 2_100_00000000n);
    await world.index();
    await enrichAll(world);
    expect(await pricesOf(ethUsdFeed)).toEqual([
      [first, "195000000000", 8],
      [last, "210000000000", 8],
    ]);
    expect(await pricesOf(usdcUsdFeed)).toEqual([[expect.any(Number), "100000000", 8]]);
    await forgetAll(world);
    await enrichAll(world, { limits: { maxBlocks: 3 } });
    expect((await pricesOf(ethUsdFeed)).slice(-2)).toEqual([
      [first, "195000000000", 8],
      [last, "210000000000", 8],
    ]);
  });

  test("are read where the contract says that another logs their answers", async () => {
    const { ethUsdFeed, usdcUsdFeed, daiUsdFeed } = world.chain.contracts;
    const day = await answer(daiUsdFeed, 98000000n);
    await world.index();
    const proxied = (real: ChainReader): ChainReader => ({
      ...real,
      call: async (to, data, block) => {
        const isAggregator = data === "0x245a7bfc" && to === lower(usdcUsdFeed);
        return isAggregator ? `0x${"00".repeat(12)}${daiUsdFeed.slice(2)}` : real.call(to, data, block);
      },
    });
    await enrichAll(world, { wrap: proxied });
    expect((await pricesOf(usdcUsdFeed)).at(-1)).toEqual([day, "98000000", 8]);
    expect((await pricesOf(ethUsdFeed)).length).toBeGreaterThan(0);
  });

  test("that do not answer as feeds leave their tokens without a price, and nothing else undone", async () => {
    const { deployment, contracts } = world.chain;
    const { native } = deployment.market;
    const wrong = {
      ...deployment,
      market: { ...deployment.market, native: { ...native, feed: contracts.usdc } },
    };
    await enrichAll(world, { deployment: wrong });
    expect(await pricesOf(contracts.usdc)).toEqual([]);
    expect(await rowsOf(world, "enrich_cursor")).toHaveLength(1);
  });

  test("whose node keeps no old state are asked for the newest answer", async () => {
    const pruned = (real: ChainReader): ChainReader => ({
      ...real,
      call: (to, data, block) => (block === "latest" ? real.call(to, data, block) : fail("state_missing")()),
    });
    await enrichAll(world, { wrap: pruned });
    expect(await pricesOf(world.chain.contracts.usdcUsdFeed)).toHaveLength(1);
  });

  test("are not asked for the newest answer while the node is in trouble", async () => {
    const troubled = (real: ChainReader): ChainReader => ({
      ...real,
      call: (to, data, block) => (block === "latest" ? real.call(to, data, block) : fail("unreachable")()),
    });
    await expect(enrichAll(world, { wrap: troubled })).rejects.toMatchObject({ kind: "unreachable" });
    expect(await rowsOf(world, "feed_price")).toEqual([]);
  });

  test.each([
    ["does not answer", { call: fail("timeout") }, "timeout"],
    [
      "gives answers outside the range",
      (real: ChainReader): Partial<ChainReader> => ({
        logs: async (filter) => {
          const logs = await real.logs(filter);
          return filter.topics.length > 1
            ? logs
            : logs.map((log) => ({ ...log, blockNumber: filter.to + 1 }));
        },
      }),
      "inconsistent",
    ],
  ])("of a node that %s keep the cursor where it is", async (_name, answers, kind) => {
    const wrap = (real: ChainReader): ChainReader => ({
      ...real,
      ...(typeof answers === "function" ? answers(real) : answers),
    });
    await expect(enrichAll(world, { wrap })).rejects.toMatchObject({ kind });
    expect(await rowsOf(world, "enrich_cursor")).toEqual([]);
    expect(await rowsOf(world, "feed_price")).toEqual([]);
  });
});

describe("delegations", () => {
  const delegations = async () =>
    (await rowsOf(world, "wallet_delegation")).map(({ wallet, delegate }) => [wallet, delegate]);

  test("have a row for every wallet at its first reading, and another only where the code changed", async () => {
    await world.index();
    await enrichAll(world);
    const first = WALLETS.map((wallet) => [wallet, null]);
    expect(await delegations()).toEqual(first);
    await world.chain.rpc.request("anvil_setCode", FIRST, `0xef0100${DELEGATE.slice(2)}`);
    await world.chain.mine(1);
    await world.index();
    const { requests } = await enrichAll(world);
    expect(requests.filter((method) => method === "eth_getCode")).toHaveLength(WALLETS.length);
    expect(await delegations()).toEqual([first[0], [FIRST, DELEGATE], ...first.slice(1)]);
  });

  test("are not there of a wallet whose code the node does not give; all others are, and the cursor goes on", async () => {
    const wrap = (real: ChainReader): ChainReader => ({
      ...real,
      code: (address, block) => (address === FIRST ? fail("unreachable")() : real.code(address, block)),
    });
    await enrichAll(world, { wrap });
    expect(await delegations()).toEqual(WALLETS.slice(1).map((wallet) => [wallet, null]));
    expect(await rowsOf(world, "enrich_cursor")).toHaveLength(1);
  });

  test("are no more asked for by a range once three failed", async () => {
    const asked = new Set<Address>();
    const wrap = (real: ChainReader): ChainReader => ({
      ...real,
      code: (address) => {
        asked.add(address);
        return fail("unreachable")();
      },
    });
    await enrichAll(world, { wrap, limits: { concurrency: 1 } });
    expect(asked.size).toBe(3);
    expect(await delegations()).toEqual([]);
    expect(await rowsOf(world, "enrich_cursor")).toHaveLength(1);
  });

  test("of more wallets than one range reads come with the next ranges, each once", async () => {
    const wallets = Array.from({ length: 450 }, (_, index) => pad(numberToHex(index + 1), { size: 20 }));
    const context = contextOf(world, (real) => ({ ...real, code: async () => "0x" }));
    const read: Address[][] = [];
    for (let round = 0; round < 4; round += 1) {
      const { rows, settle } = await readChangedDelegations(context, {
        ...{ wallets, to: 7, endTime: 1_000_000, areSignersKnown: false },
      });
      read.push(rows.map(({ wallet }) => wallet as Address));
      settle();
    }
    expect(read.map(({ length }) => length)).toEqual([200, 200, 50, 0]);
    expect(new Set(read.flat())).toEqual(new Set(wallets));
  });
});
