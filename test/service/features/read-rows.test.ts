import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readAsOf, readSanctionsList, readWalletRows } from "../../../service/features/read-rows.ts";
import type { AsOf, OwnCall, WalletRows } from "../../../service/features/types.ts";
import { sortCalls } from "../../../service/features/weigh-calls.ts";
import { AHS_2026_0 } from "../../../service/score/policy.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";
import { account, callsOf, DAY, START } from "./histories.ts";
import {
  blockHash,
  createIndexTables,
  createTransactionIndexes,
  finalize,
  follow,
  insertTransaction,
} from "./index-tables.ts";

const SCHEMA = "chain_31337";
const AGENT = account(0xa1);
const OTHER = account(0xa2);
const STRANGER = account(0xbad);
const LISTING = `0x${"11".repeat(32)}` as const;

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

describe("before the index is ready", () => {
  test("there is no block to score at", async () => {
    expect(await readAsOf(client, SCHEMA)).toBeNull();
  });
});

describe("an index of 400 days with a block a day", () => {
  beforeEach(async () => {
    await client.query(`drop schema if exists ${SCHEMA} cascade`);
    await createIndexTables(client, SCHEMA);
    await createTransactionIndexes(client, SCHEMA);
    await client.query(
      `insert into ${SCHEMA}.block select n, '0x' || lpad(to_hex(n), 64, '0'), ${START} + n * ${DAY}, 1 from generate_series(0, 400) n`,
    );
  });

  test("scores at the newest finalized block", async () => {
    expect(await readAsOf(client, SCHEMA)).toBeNull();
    await finalize(client, SCHEMA, blockAt(300));
    expect(await readAsOf(client, SCHEMA)).toEqual(asOf(300));
  });

  test("scores at the newest block it holds where the finalized one is missing", async () => {
    await finalize(client, SCHEMA, blockAt(300));
    await client.query(`delete from ${SCHEMA}.block where number = 300`);
    expect(await readAsOf(client, SCHEMA)).toEqual(asOf(299));
  });

  test("reads a wallet's own calls exactly, reverted ones, creations and plain transfers included", async () => {
    const calls: readonly OwnCall[] = [
      callAt(10, { value: 10n ** 27n, gasLimit: 21_000n, gasUsed: 21_000n, fee: 21_000n * 3_000_000_007n }),
      callAt(11, { ok: false }),
      callAt(12, { to: null, selector: null }),
      callAt(13, { selector: null }),
    ];
    await follow(client, SCHEMA, { wallet: AGENT, block: 5 });
    await insertCalls(calls.toReversed());
    const rows = await readOne();
    expect({ ...rows, calls: sortCalls(rows.calls) }).toEqual({
      chainId: 31337,
      wallet: AGENT,
      calls,
      sanctions: [],
      coverage: {
        fromBlock: 5,
        fromTimestamp: blockAt(5).timestamp,
        toBlock: 300,
        complete: false,
        sources: ["index"],
      },
      chainStartTimestamp: START,
    });
  });

  test("leaves out what strangers send to a wallet, whatever they send and however it ends", async () => {
    await follow(client, SCHEMA, { wallet: AGENT, block: 0 });
    await insertCalls([callAt(10), callAt(20)]);
    const before = await readOne();
    for (const [position, ok] of [true, false, true].entries()) {
      await insertTransaction(client, SCHEMA, {
        call: { ...callAt(30 + position), to: AGENT, value: 10n ** 24n, ok },
        from: STRANGER,
        nonce: position,
        own: false,
      });
    }
    expect(await readOne()).toEqual(before);
  });

  test("leaves out what happened after the block, or before the wallet was followed", async () => {
    await follow(client, SCHEMA, { wallet: AGENT, block: 15 });
    await insertTransaction(client, SCHEMA, { call: callAt(10), from: AGENT, nonce: 0, own: false });
    await insertCalls([callAt(20), callAt(301)]);
    expect((await readOne()).calls.map((call) => call.blockNumber)).toEqual([20]);
  });

  test("reads the window of 180 days before the last call as of the block", async () => {
    await follow(client, SCHEMA, { wallet: AGENT, block: 0 });
    await insertCalls([callAt(69), callAt(70), callAt(250), callAt(350)]);
    expect(blocksOf(await readOne())).toEqual([70, 250]);
  });

  test("reads of each wallet its own window, whatever else is read with it", async () => {
    await follow(client, SCHEMA, { wallet: AGENT, block: 0 });
    await follow(client, SCHEMA, { wallet: OTHER, block: 0 });
    await insertCalls([callAt(5), callAt(250)]);
    const old = { ...callAt(20), hash: blockHash(9_999) };
    await insertTransaction(client, SCHEMA, { call: old, from: OTHER, nonce: 0 });
    const rows = await readWalletRows(client, request([AGENT, OTHER]));
    expect(new Map(rows.map((own) => [own.wallet, blocksOf(own)]))).toEqual(
      new Map([
        [AGENT, [250]],
        [OTHER, [20]],
      ]),
    );
  });

  test("reads many wallets at once, and none that was not followed by the block", async () => {
    await follow(client, SCHEMA, { wallet: AGENT, block: 0 });
    await follow(client, SCHEMA, { wallet: OTHER, block: 301 });
    const rows = await readWalletRows(client, request([AGENT, OTHER, STRANGER]));
    expect(rows.map(({ wallet, calls }) => ({ wallet, calls }))).toEqual([{ wallet: AGENT, calls: [] }]);
  });

  test.each([
    { name: "followed from the chain's first block", followed: 0, nonces: [7], first: 0, complete: true },
    { name: "followed before its first call ever", followed: 50, nonces: [0, 1], first: 0, complete: true },
    { name: "followed after its first call", followed: 50, nonces: [3, 4], first: 0, complete: false },
    { name: "followed since before the window", followed: 1, nonces: [3], first: 0, complete: true },
    { name: "without any call", followed: 50, nonces: [], first: 0, complete: false },
    {
      name: "from the start of an index that starts later than its chain",
      followed: 100,
      nonces: [3, 4],
      first: 100,
      complete: false,
    },
  ])("a wallet $name: complete $complete", async ({ followed, nonces, first, complete }) => {
    await client.query(`delete from ${SCHEMA}.block where number < $1`, [first]);
    await follow(client, SCHEMA, { wallet: AGENT, block: followed });
    const block = followed === 1 ? 290 : 120;
    for (const [position, nonce] of nonces.entries()) {
      await insertTransaction(client, SCHEMA, { call: callAt(block + position), from: AGENT, nonce });
    }
    const rows = await readOne();
    expect(rows.coverage.complete).toBe(complete);
    expect(rows.coverage.fromBlock).toBe(followed);
    expect(rows.chainStartTimestamp).toBe(first === 0 ? START : null);
  });

  test("flags a wallet whose newest change by the block is a listing", async () => {
    await follow(client, SCHEMA, { wallet: AGENT, block: 0 });
    expect((await readOne()).sanctions).toEqual([]);
    await change({ block: 100, logIndex: 5, listed: false });
    await change({ block: 100, logIndex: 6, listed: true, transactionHash: LISTING });
    await change({ block: 301, logIndex: 0, listed: false });
    const flag = {
      source: "chainalysis-oracle",
      reference: LISTING,
      detected_at: new Date(blockAt(100).timestamp * 1000).toISOString(),
    };
    expect((await readOne()).sanctions).toEqual([flag]);
    expect(await readSanctionsList(client, { schema: SCHEMA, asOf: asOf(300) })).toEqual([
      { address: AGENT, ...flag },
    ]);
    await change({ block: 300, logIndex: 0, listed: false });
    expect((await readOne()).sanctions).toEqual([]);
    expect(await readSanctionsList(client, { schema: SCHEMA, asOf: asOf(300) })).toEqual([]);
  });
});

function blockAt(number: number): { number: number; timestamp: number } {
  return { number, timestamp: START + number * DAY };
}

function asOf(number: number): AsOf {
  return { blockNumber: number, blockHash: blockHash(number), timestamp: blockAt(number).timestamp };
}

function callAt(block: number, parts: Partial<OwnCall> = {}): OwnCall {
  const [call] = callsOf([{ at: blockAt(block).timestamp }]);
  if (call === undefined) throw new Error("one step makes one call");
  return { ...call, hash: blockHash(1_000 + block), blockNumber: block, transactionIndex: 3, ...parts };
}

async function insertCalls(calls: readonly OwnCall[]): Promise<void> {
  for (const call of calls)
    await insertTransaction(client, SCHEMA, { call, from: AGENT, nonce: call.blockNumber });
}

function request(wallets: readonly `0x${string}`[]) {
  return { schema: SCHEMA, chainId: 31337, asOf: asOf(300), wallets, policy: AHS_2026_0 };
}

async function readOne(): Promise<WalletRows> {
  const [rows, ...more] = await readWalletRows(client, request([AGENT]));
  if (rows === undefined || more.length > 0) throw new Error("expected the rows of one wallet");
  return rows;
}

function blocksOf(rows: WalletRows): readonly number[] {
  return rows.calls.map((call) => call.blockNumber).toSorted((a, b) => a - b);
}

async function change(entry: {
  readonly block: number;
  readonly logIndex: number;
  readonly listed: boolean;
  readonly transactionHash?: string;
}): Promise<void> {
  await client.query(`insert into ${SCHEMA}.sanctions_change values ($1, $2, $3, $4, $5, $6, $7)`, [
    `${entry.block}-${entry.logIndex}`,
    AGENT,
    entry.listed,
    entry.block,
    entry.logIndex,
    blockAt(entry.block).timestamp,
    entry.transactionHash ?? `0x${"22".repeat(32)}`,
  ]);
}
