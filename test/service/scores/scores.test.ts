import type { Address } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { databaseFailure } from "../../../service/db/database-failure.ts";
import { createScoreReader } from "../../../service/scores/scores.ts";
import { insertCurrentScore, insertScore } from "../../support/score-rows.ts";
import { useDatabase } from "../../support/test-database.ts";
import { createIndexTables } from "../db/index-tables.ts";
import { enrichTo, finalize, follow } from "../model/features/index-tables.ts";

const CHAIN = 31337;
const SCHEMA = "chain_31337";
const HEAD = { blockNumber: 1200, timestamp: 1_795_000_000 };
const HASH = `0x${"ab".repeat(32)}` as const;

const db = useDatabase();

function wallet(number: number): Address {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

describe("before the index has made its views", () => {
  it("every read of them fails as a missing index, not as a fault of ours", async () => {
    const reader = createScoreReader(db, CHAIN);
    for (const read of [
      () => reader.head(),
      () => reader.snapshot(wallet(1)),
      () => reader.atFinal(wallet(1)),
      () => reader.published(wallet(1)),
    ]) {
      const error = await read().catch((caught: unknown) => caught);
      expect(databaseFailure(error)).toBe("index");
    }
  });
});

describe("with an index", () => {
  let reader: ReturnType<typeof createScoreReader>;

  beforeAll(async () => {
    await createIndexTables(db, CHAIN);
    reader = createScoreReader(db, CHAIN);
  });

  it("a wallet has no head before the first block", async () => {
    expect([await reader.head(), await reader.snapshot(wallet(1))]).toEqual([
      null,
      { head: null, sanctions: [], threats: [], score: null, followed: false },
    ]);
  });

  it("the head is the block with the highest number", async () => {
    await db.$client.query(
      `insert into "chain_31337".block (number, hash, "timestamp")
       values (999, $1, 1794000000), (1200, $1, 1795000000), (1199, $1, 1794999990)`,
      [HASH],
    );
    expect(await reader.head()).toEqual(HEAD);
  });

  it("many wallets asked for at once each get their own score", async () => {
    const [scored, followed, stranger, twice] = [wallet(2), wallet(3), wallet(4), wallet(2)];
    const row = await insertCurrentScore(db, { wallet: scored });
    for (const address of [scored, followed]) {
      await db.$client.query(
        `insert into "chain_31337".wallet (address, source, followed_block, own_calls, own_failures, touched_block)
         values ($1, 'registered', 1, 0, 0, 1)`,
        [address],
      );
    }
    const shown = {
      scoreId: row.id,
      asOfBlock: 1000,
      ahsScore: 84,
      grade: "B",
      confidenceMicros: 810_000,
      confidenceLevel: "HIGH",
      asOfTime: new Date("2026-11-20T09:00:00Z"),
    };
    expect(
      await Promise.all([scored, followed, stranger, twice].map((address) => reader.snapshot(address))),
    ).toEqual([
      { head: HEAD, sanctions: [], threats: [], score: shown, followed: true },
      { head: HEAD, sanctions: [], threats: [], score: null, followed: true },
      { head: HEAD, sanctions: [], threats: [], score: null, followed: false },
      { head: HEAD, sanctions: [], threats: [], score: shown, followed: true },
    ]);
  });

  it("a wallet is known to the newest finalized and enriched block from the one on in which it is followed", async () => {
    const [known, newer, reported, stranger] = [wallet(11), wallet(12), wallet(13), wallet(14)];
    const statuses = () =>
      Promise.all([known, newer, reported, stranger, known].map((address) => reader.atFinal(address)));
    await follow(db.$client, SCHEMA, { wallet: known, block: 1199 });
    await follow(db.$client, SCHEMA, { wallet: newer, block: 1200 });
    await db.$client.query(
      `insert into ahs.stored_history (chain_id, wallet, source, from_block, from_timestamp, to_block, to_hash, complete)
       values ($1, $2, 'otterscan', 5, 5, 1199, $3, true)`,
      [CHAIN, reported, HASH],
    );
    const none = Array.from({ length: 5 }, () => "no-block");
    expect(await statuses()).toEqual(none);
    await finalize(db.$client, SCHEMA, { number: 1199, timestamp: 1_794_999_990 });
    expect(await statuses()).toEqual(none);
    await enrichTo(db.$client, SCHEMA, 1199);
    expect(await statuses()).toEqual(["known", "unknown", "known", "unknown", "known"]);
    // Enrichment that is more than an hour behind makes no record of today.
    await enrichTo(db.$client, SCHEMA, 999);
    expect(await statuses()).toEqual(none);
  });

  it("a score of another chain is not found", async () => {
    const address = wallet(5);
    await insertCurrentScore(db, { wallet: address, chainId: 1 });
    expect((await reader.snapshot(address)).score).toBeNull();
  });

  // By block and log index.
  it.each([
    ["listed", { "10 0": true }, true],
    ["listed, then removed", { "10 0": true, "11 0": false }, false],
    ["removed, then listed again", { "10 0": true, "11 0": false, "11 3": true }, true],
    ["listed and removed in one block", { "12 5": false, "12 4": true }, false],
  ])("a wallet %s follows the last change", async (name, changes, listed) => {
    const address = wallet(100 + name.length);
    for (const [place, value] of Object.entries(changes)) {
      await db.$client.query(
        `insert into "chain_31337".sanctions_change values ($1, $2, $3, $4, $5, 1794000000, $6)`,
        [`${address}-${place}`, address, value, ...place.split(" "), HASH],
      );
    }
    expect((await reader.snapshot(address)).sanctions).toEqual(
      listed
        ? [{ source: "chainalysis-oracle", reference: HASH, detected_at: "2026-11-06T21:20:00.000Z" }]
        : [],
    );
  });

  it("a wallet that several lists name has a flag of each, one that is off the contract's has the other's", async () => {
    const address = wallet(150);
    await db.$client.query(
      "insert into ahs.sanctions_reading values ($1, $2, true, 7, '2026-11-20T09:00:00Z')",
      [CHAIN, address],
    );
    await db.$client.query(
      "insert into ahs.sanctions_entry values ('ofac-sdn', $1, '900', '2026-11-20T06:00:00Z')",
      [address],
    );
    const imported = { source: "ofac-sdn", reference: "900", detected_at: "2026-11-20T06:00:00.000Z" };
    expect((await reader.snapshot(address)).sanctions).toEqual([
      {
        source: "chainalysis-oracle",
        reference: "isSanctioned at block 7",
        detected_at: "2026-11-20T09:00:00.000Z",
      },
      imported,
    ]);
    await db.$client.query(
      `insert into "chain_31337".sanctions_change values ('x', $1, false, 9, 0, 9, $2)`,
      [address, HASH],
    );
    expect((await reader.snapshot(address)).sanctions).toEqual([imported]);
  });

  it.each([
    ["a score", {}, { ahsScore: 77, safeMicroUsd: 42_500_000n }],
    ["an insufficient record", { insufficient: true }, { ahsScore: null, safeMicroUsd: 42_500_000n }],
    ["an invalidated record", { present: false }, null],
    ["zero as safe amount", { safe: 0n }, { ahsScore: 77, safeMicroUsd: 0n }],
    ["no safe amount of an older model", { model: 20261, safe: 0n }, { ahsScore: 77, safeMicroUsd: null }],
    ["a later backing of an older score", { model: 20261 }, { ahsScore: 77, safeMicroUsd: 42_500_000n }],
  ])("published returns %s", async (name, record, expected) => {
    const address = wallet(200 + name.length);
    const { present, insufficient, model, safe } = {
      ...{ present: true, insufficient: false, model: 20262, safe: 42_500_000n },
      ...record,
    };
    await db.$client.query(
      `insert into "chain_31337".oracle_score
       values ($1, $2, 77, 80, 76, 8100, false, $3, $4, $5, 900, 1793999000, $6, 905, 1794000000)`,
      [address, present, insufficient, model, safe, HASH],
    );
    const rest = { asOfBlock: 900, transactionHash: HASH, publishedAt: new Date("2026-11-06T21:20:00.000Z") };
    expect(await reader.published(address)).toEqual(expected === null ? null : { ...expected, ...rest });
  });

  it("history is newest first and ends at the limit", async () => {
    const address = wallet(300);
    const rows = [];
    for (const asOfBlock of [1_001, 1_002, 1_003])
      rows.push(await insertScore(db, { wallet: address, asOfBlock }));
    await insertScore(db, { wallet: address, asOfBlock: 1_000 });
    const history = await reader.history(address, 2);
    expect(history).toEqual([rows[2], rows[1]]);
  });

  it("the trend is the change along the fitted line over the stored time, insufficient scores left out", async () => {
    const address = wallet(301);
    const day = (of: number) => new Date(Date.UTC(2026, 10, of));
    await insertScore(db, { wallet: address, ahsScore: 10, asOfTime: day(1) });
    for (const [of, ahsScore] of [
      [5, 70],
      [6, null],
      [7, 74],
      [9, 78],
    ] as const) {
      await insertScore(db, { wallet: address, ahsScore, asOfTime: day(of) });
    }
    const { points, change } = await reader.trend(address, day(5));
    expect([points, change]).toEqual([3, expect.closeTo(8, 6)]);
    expect(await reader.trend(address, day(9))).toEqual({ points: 1, change: null });
    expect(await reader.trend(wallet(999), day(1))).toEqual({ points: 0, change: null });
  });

  it("the trend is of one score a day, and of none under sanctions: asking often, or a listing taken back, moves nothing", async () => {
    const address = wallet(302);
    const at = (day: number, hour: number) => new Date(Date.UTC(2026, 10, day, hour));
    for (const [asOfTime, ahsScore, sanctioned] of [
      [at(1, 1), 70, false],
      [at(2, 1), 10, false],
      [at(2, 2), 71, false],
      [at(3, 1), 0, true],
      [at(4, 1), 73, false],
    ] as const) {
      await insertScore(db, { wallet: address, asOfTime, ahsScore, sanctioned });
    }
    const { points, change } = await reader.trend(address, at(1, 0));
    expect([points, change]).toEqual([3, expect.closeTo(3, 1)]);
  });

  it("text that looks like SQL is only an unknown address", async () => {
    const hostile = "'; drop table ahs.score; --" as Address;
    expect((await reader.snapshot(hostile)).followed).toBe(false);
    expect(await reader.history(hostile, 1)).toEqual([]);
  });
});
