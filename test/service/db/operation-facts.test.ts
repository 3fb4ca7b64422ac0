import type { Address } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fromIndex, readIndexHead } from "../../../service/db/index-snapshot.ts";
import {
  countCallers,
  readChainQueues,
  readDatabaseUse,
  readFeedPrice,
  readRoleFacts,
  readScoreAges,
  readServerFacts,
} from "../../../service/db/operation-facts.ts";
import { insertCurrentScore } from "../../support/score-rows.ts";
import { openMigrated, urlForRole, useDatabase } from "../../support/test-database.ts";
import { createIndexTables } from "./index-tables.ts";

const CHAIN = 31_337;
const NOW = new Date("2026-11-20T10:00:00Z");
const WALLET = "0x00000000000000000000000000000000000000a1";

let url: string;
const db = useDatabase();

beforeAll(async () => {
  url = String(db.$client.options.connectionString);
});
beforeEach(async () => {
  await db.$client.query(
    "truncate ahs.score, ahs.current_score, ahs.publish_intent, ahs.sender_transaction cascade",
  );
});

const COVERAGE = { complete: false, fromBlock: 1, fromTimestamp: 1, toBlock: 1, sources: ["index"] };
const before = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000);

async function score(wallet: string, ageSeconds: number, changes = {}): Promise<number> {
  const unscored = {
    ahsScore: null,
    grade: null,
    confidenceMicros: 0,
    confidenceLevel: "INSUFFICIENT",
  } as const;
  const asOfTime = before(ageSeconds);
  return (await insertCurrentScore(db, { wallet: wallet as Address, asOfTime, ...unscored, ...changes })).id;
}

describe("the server", () => {
  test("reports its version, its user and how far it is migrated", async () => {
    const facts = await readServerFacts(db.$client);
    expect(facts.version).toBeGreaterThan(140_000);
    expect(facts.migrations.applied).toBe(facts.migrations.known);
  });

  test("has every role with all its rights; a missing one is named, and users see what they are", async () => {
    const owner = await readRoleFacts(db.$client);
    expect(owner).toMatchObject({ lacking: [], largeObjects: [], ownsAll: true });
    expect(owner.roles.every(({ exists }) => exists)).toBe(true);
    await db.$client.query("revoke select on ahs.payment from ahs_serve");
    expect((await readRoleFacts(db.$client)).lacking).toEqual(["ahs_serve: payment"]);
    await db.$client.query("grant execute on function pg_catalog.lo_from_bytea(oid, bytea) to ahs_serve");
    expect((await readRoleFacts(db.$client)).largeObjects).toEqual(["ahs_serve"]);
    const served = openMigrated(urlForRole(url, "ahs_serve"));
    const facts = await readRoleFacts(served.$client);
    await served.$client.end();
    expect(facts.ownsAll).toBe(false);
    expect(facts.roles.filter(({ isMember }) => isMember).map(({ role }) => role)).toEqual(["ahs_serve"]);
  });
});

test("shows the use of the server to every user, and its folder to those that may see it", async () => {
  const use = {
    bytes: expect.any(Number),
    connections: expect.any(Number),
    maxConnections: expect.any(Number),
  };
  expect(await readDatabaseUse(db.$client)).toEqual({ ...use, folder: expect.stringMatching(/^\//) });
  const working = openMigrated(urlForRole(url, "ahs_work"));
  const seen = await readDatabaseUse(working.$client);
  await working.$client.end();
  expect(seen).toEqual({ ...use, folder: null });
  expect(Math.min(seen.bytes, seen.connections, seen.maxConnections)).toBeGreaterThan(0);
});

test("counts callers of the last minute, and those whose last call was refused", async () => {
  await db.$client.query(`
    insert into ahs.rate_bucket (identity, tokens, granted, updated_at) values
      ('key:a', 3, 1, clock_timestamp()), ('wallet:b', 0.2, 0, clock_timestamp()),
      ('key:idle', 0.2, 0, clock_timestamp() - interval '2 minutes'), ('bytes:c', 5, 0, clock_timestamp())`);
  expect(await countCallers(db.$client)).toEqual({ active: 2, limited: 1 });
});

test("reports each queue by itself, and postponed items as not overdue", async () => {
  const chain = { chainId: CHAIN, now: NOW };
  const empty = { waiting: 0, overdueSeconds: 0 };
  expect(await readChainQueues(db.$client, chain)).toEqual({ publish: empty, sender: empty });
  const scoreId = await score(WALLET, 60);
  const intent = (wallet: string, state: string, createdAt: Date, notBefore: Date | null) =>
    db.$client.query(
      `insert into ahs.publish_intent (chain_id, wallet, score_id, reason, state, created_at, not_before)
       values ($1, $2, $3, 'first', $4, $5, $6)`,
      [CHAIN, wallet, scoreId, state, createdAt, notBefore],
    );
  await intent("a", "pending", before(900), before(-60));
  await intent("b", "pending", before(120), null);
  await intent("c", "confirmed", before(9_000), null);
  const transaction = (reference: string, state: string, createdAt: Date) =>
    db.$client.query(
      `insert into ahs.sender_transaction (chain_id, sender, reference, purpose, "to", data, value, state, hashes, created_at)
       values ($1, '0x1', $2, 'p', '0x2', '0x', 0, $3, '{}', $4)`,
      [CHAIN, reference, state, createdAt],
    );
  await transaction("x", "broadcast", before(30));
  await transaction("y", "mined", before(8_000));
  expect(await readChainQueues(db.$client, chain)).toEqual({
    publish: { waiting: 2, overdueSeconds: 120 },
    sender: { waiting: 1, overdueSeconds: 30 },
  });
});

test("scores are as old as the blocks that they speak for", async () => {
  const chain = { chainId: CHAIN, now: NOW };
  expect(await readScoreAges(db.$client, chain)).toEqual({
    ...{ wallets: 0, median: null, oldest: null },
    ...{ cut: 0, postponed: 0 },
  });
  for (const [wallet, age] of Object.entries({ a: 10, b: 30, c: 500 })) await score(wallet, age);
  expect(await readScoreAges(db.$client, chain)).toEqual({
    ...{ wallets: 3, median: 30, oldest: 500 },
    ...{ cut: 0, postponed: 0 },
  });
});

test("of followed wallets without a score those are counted that the last night left out", async () => {
  for (const [wallet, hours] of Object.entries({ a: 31, b: 31, c: 29, d: 31 })) {
    await score(wallet, 3_600 * hours);
    if (wallet !== "b") {
      await db.$client.query(
        "insert into ahs.enrich_wallet (chain_id, wallet, from_block) values ($1, $2, 1)",
        [CHAIN, wallet],
      );
    }
  }
  await db.$client.query("update ahs.current_score set ahs_score = 80 where wallet = 'd'");
  expect(await readScoreAges(db.$client, { chainId: CHAIN, now: NOW })).toMatchObject({ postponed: 1 });
});

test("wallets are counted whose current score covers their newest calls alone, not their earlier scores", async () => {
  const newestCallsOnly = { coverage: { ...COVERAGE, newestCallsOnly: true } };
  await score("a", 10, newestCallsOnly);
  await score("b", 10, { coverage: COVERAGE });
  const former = await score("c", 10, newestCallsOnly);
  const now = await score("d", 10);
  await db.$client.query("update ahs.current_score set score_id = $1 where score_id = $2", [now, former]);
  expect(await readScoreAges(db.$client, { chainId: CHAIN, now: NOW })).toMatchObject({ wallets: 4, cut: 1 });
});

test("an index that is not there has no head, nor has an empty one", async () => {
  expect(await fromIndex(readIndexHead(db, CHAIN))).toBeNull();
  await createIndexTables(db, CHAIN);
  expect(await fromIndex(readIndexHead(db, CHAIN))).toBeNull();
  await db.$client.query(
    `insert into chain_31337.block (number, hash, "timestamp") values (7, '0x', 99), (8, '0x', 100)`,
  );
  expect(await fromIndex(readIndexHead(db, CHAIN))).toEqual({ blockNumber: 8, timestamp: 100 });
});

test("reads a feed's newest answer, in any letter case of its address", async () => {
  const of = { chainId: CHAIN, feed: "0xAbC" };
  expect(await readFeedPrice(db.$client, of)).toBeNull();
  await db.$client.query(
    `insert into ahs.feed_price (chain_id, feed, day, block, answer, decimals)
     values ($1, '0xabc', 1, 1, 100000000, 8), ($1, '0xabc', 2, 2, 250050000000, 8)`,
    [CHAIN],
  );
  expect(await readFeedPrice(db.$client, of)).toBe(2_500.5);
});
