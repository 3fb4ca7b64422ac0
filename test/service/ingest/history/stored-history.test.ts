import { Client } from "pg";
import { type Address, pad, toHex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../../../../service/db/database.ts";
import { resetChain } from "../../../../service/db/reset-chain.ts";
import { ownCall } from "../../../../service/db/tables/enrich.ts";
import { storedHistory } from "../../../../service/db/tables/history.ts";
import {
  type NewStoredHistory,
  readGaps,
  readPastFacts,
  storeHistory,
} from "../../../../service/ingest/history/stored-history.ts";
import type { OwnCall } from "../../../../service/model/features/types.ts";
import { createTestDatabase, openMigrated } from "../../../support/test-database.ts";
import {
  blockHash,
  createIndexTables,
  follow,
  insertTransaction,
} from "../../model/features/index-tables.ts";

const CHAIN_ID = 31_337;
const SCHEMA = "chain_31337";
const WALLET: Address = "0x1111111111111111111111111111111111111111";
const OTHER: Address = "0x2222222222222222222222222222222222222222";
const GENESIS = 1_790_000_000;

let db: Database;
let client: Client;
let close: () => Promise<void>;

beforeAll(async () => {
  const database = await createTestDatabase();
  db = openMigrated(database.url);
  client = new Client({ connectionString: database.url });
  await client.connect();
  close = async () => {
    await client.end();
    await db.$client.end();
    await database.drop();
  };
});
afterAll(() => close());

beforeEach(async () => {
  await resetChain(db, CHAIN_ID);
  await createIndexTables(client, SCHEMA);
  for (let number = 5; number <= 60; number += 1) {
    await client.query(`insert into ${SCHEMA}.block values ($1, $2, $3, 1)`, [
      number,
      blockHash(number),
      GENESIS + number,
    ]);
  }
});

function call(block: number, given: Partial<OwnCall> = {}): OwnCall {
  return {
    hash: pad(toHex(1_000 + block), { size: 32 }),
    blockNumber: block,
    transactionIndex: 2,
    position: 0,
    timestamp: GENESIS + block,
    to: OTHER,
    selector: "0xa9059cbb",
    value: 2n ** 200n,
    ok: false,
    gasLimit: 90_000n,
    gasUsed: 60_000n,
    fee: 420_000n,
    gasPrice: 7n,
    recipient: OTHER,
    amount: 2n ** 255n,
    receipt: null,
    ...given,
  };
}

function reported(toBlock: number, given: Partial<NewStoredHistory> = {}): NewStoredHistory {
  return {
    chainId: CHAIN_ID,
    wallet: WALLET,
    source: "otterscan",
    fromBlock: 0,
    fromTimestamp: 0,
    toBlock,
    toHash: blockHash(toBlock),
    complete: true,
    ...given,
  };
}

const rows = () => db.select().from(ownCall).orderBy(ownCall.wallet, ownCall.block);
const coverages = () => db.select().from(storedHistory);
const blocksBySource = async () => (await rows()).map(({ block, source }) => [block, source]);

/** As enrichment writes it: the same call with its receipt. */
async function enrich(block: number): Promise<void> {
  const { blockNumber, gasPrice, fee, receipt, ...same } = call(block);
  await db.insert(ownCall).values({
    ...{ ...same, chainId: CHAIN_ID, wallet: WALLET, origin: "transaction", source: "enrich" },
    ...{ block: blockNumber, gasPriceWei: gasPrice, feeWei: fee, effect: "none", logs: 0 },
  });
}

describe("the report of a source", () => {
  test("is stored whole: the calls as they are, without receipts, and what they cover", async () => {
    expect(await storeHistory(db, reported(40), [call(30, { fee: 420_500n }), call(20)])).toBe(true);
    expect(await coverages()).toEqual([{ ...reported(40), fromNonce: null, readAt: expect.any(Date) }]);
    const common = {
      ...{ chainId: CHAIN_ID, wallet: WALLET, origin: "transaction", source: "otterscan", position: 0 },
      ...{ transactionIndex: 2, to: OTHER, selector: "0xa9059cbb", value: 2n ** 200n, ok: false },
      ...{ gasLimit: 90_000n, gasUsed: 60_000n, gasPriceWei: 7n, feeWei: 420_000n },
      ...{ recipient: OTHER, amount: 2n ** 255n },
      ...{ marketPriceWei: null, effect: null, logs: null, emitters: null, moves: null },
    };
    const at = (block: number) => {
      const { hash, timestamp } = call(block);
      return { hash, timestamp, block, line: expect.stringMatching(new RegExp(`^${hash} ${block} 2 0 `)) };
    };
    expect(await rows()).toEqual([
      { ...common, ...at(20), l1FeeWei: null },
      { ...common, ...at(30), l1FeeWei: 500n },
    ]);
  });

  test("is replaced by its later report, and nothing stays that is no longer reported", async () => {
    await storeHistory(db, reported(40), [call(30), call(20), call(10)]);
    await storeHistory(db, reported(50, { fromBlock: 15 }), [call(45), call(30), call(20)]);
    expect(await blocksBySource()).toEqual([
      [20, "otterscan"],
      [30, "otterscan"],
      [45, "otterscan"],
    ]);
    expect(await coverages()).toMatchObject([{ fromBlock: 15, toBlock: 50 }]);
  });

  test.each(["otterscan", "explorer"])(
    "is not replaced by a report of %s that reaches less far",
    async (source) => {
      await storeHistory(db, reported(50), [call(45), call(20)]);
      expect(await storeHistory(db, reported(40, { source }), [call(20)])).toBe(true);
      expect(await blocksBySource()).toEqual([
        [20, "otterscan"],
        [45, "otterscan"],
      ]);
      expect(await coverages()).toMatchObject([{ source: "otterscan", toBlock: 50 }]);
    },
  );

  test("is replaced by one of another source up to the same block or a later one", async () => {
    await storeHistory(db, reported(40), [call(30), call(20)]);
    await storeHistory(db, reported(40, { source: "explorer" }), [call(20)]);
    expect(await blocksBySource()).toEqual([[20, "explorer"]]);
    await storeHistory(db, reported(50), [call(45), call(20)]);
    expect(await blocksBySource()).toEqual([
      [20, "otterscan"],
      [45, "otterscan"],
    ]);
    expect(await coverages()).toMatchObject([{ source: "otterscan", toBlock: 50 }]);
  });

  test("leaves what enrichment knows as it is", async () => {
    await enrich(30);
    await storeHistory(db, reported(40), [call(30, { ok: true }), call(20)]);
    await storeHistory(db, reported(50), []);
    expect(await blocksBySource()).toEqual([[30, "enrich"]]);
    expect((await rows())[0]).toMatchObject({ ok: false, effect: "none" });
  });

  test("is stored once however many workers store it at the same time", async () => {
    const calls = Array.from({ length: 40 }, (_, block) => call(block + 10));
    await Promise.all([45, 50, 55, 50, 45].map((toBlock) => storeHistory(db, reported(toBlock), calls)));
    expect((await rows()).map(({ block }) => block)).toEqual(calls.map(({ blockNumber }) => blockNumber));
    expect(await coverages()).toMatchObject([{ toBlock: 55 }]);
  });

  test("may be ten thousand calls", async () => {
    const calls = Array.from({ length: 10_000 }, (_, at) =>
      call(10, { transactionIndex: at, hash: pad(toHex(at), { size: 32 }) }),
    );
    await storeHistory(db, reported(40), calls);
    await storeHistory(db, reported(41), calls);
    expect(await rows()).toHaveLength(10_000);
  });

  test("is not stored where the index does not hold its last block", async () => {
    expect(await storeHistory(db, reported(61), [call(20)])).toBe(false);
    expect(await storeHistory(db, reported(40, { toHash: blockHash(41) }), [call(20)])).toBe(false);
    expect([await rows(), await coverages()]).toEqual([[], []]);
  });

  test("goes with its chain", async () => {
    await storeHistory(db, reported(40), [call(20)]);
    await resetChain(db, CHAIN_ID);
    expect([await rows(), await coverages()]).toEqual([[], []]);
  });
});

describe("the part to be read", () => {
  const facts = (asOfBlock: number) => readPastFacts(db, { chainId: CHAIN_ID, wallet: WALLET, asOfBlock });
  const NOTHING = {
    ...{ followed: null, fromChainStart: false },
    ...{ firstNonce: null, lastCallAt: null, stored: null },
  };

  test("is nothing for an unknown wallet", async () => {
    expect(await facts(60)).toEqual(NOTHING);
  });

  test("is that of the stored report", async () => {
    await storeHistory(db, reported(40), [call(20)]);
    expect(await facts(60)).toEqual({
      ...NOTHING,
      stored: { source: "otterscan", toBlock: 40, toHash: blockHash(40) },
    });
  });

  test("is where the index began to follow, and what happened since then up to the block", async () => {
    await follow(client, SCHEMA, { wallet: WALLET, block: 25 });
    await insertTransaction(client, SCHEMA, { call: call(30), from: WALLET, nonce: 7 });
    await enrich(30);
    const followed = { blockNumber: 25, blockHash: blockHash(25), timestamp: GENESIS + 25 };
    expect(await facts(24)).toEqual(NOTHING);
    expect(await facts(29)).toEqual({ ...NOTHING, followed });
    expect(await facts(60)).toEqual({ ...NOTHING, followed, firstNonce: 7, lastCallAt: GENESIS + 30 });
  });

  test("knows a wallet followed from the first block of a chain that the index holds whole", async () => {
    await follow(client, SCHEMA, { wallet: WALLET, block: 0 });
    expect(await facts(60)).toMatchObject({ fromChainStart: false });
    await client.query(`insert into ${SCHEMA}.block values (1, $1, $2, 1)`, [blockHash(1), GENESIS + 1]);
    expect(await facts(60)).toMatchObject({ fromChainStart: true, followed: { blockNumber: 1 } });
  });
});

test("finds a gap between the reported and the followed blocks, once the latter are final", async () => {
  const gaps = (asOfBlock: number) =>
    readGaps(db, { now: new Date(), chainId: CHAIN_ID, asOfBlock, limit: 9 });
  await follow(client, SCHEMA, { wallet: WALLET, block: 30 });
  await follow(client, SCHEMA, { wallet: OTHER, block: 30 });
  expect(await gaps(60)).toEqual([]);
  await storeHistory(db, reported(20), [call(10)]);
  expect([await gaps(29), await gaps(30)]).toEqual([[], [WALLET]]);
  await storeHistory(db, reported(30), [call(10)]);
  expect(await gaps(60)).toEqual([]);
});
