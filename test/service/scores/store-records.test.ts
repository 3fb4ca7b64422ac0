import { afterEach, beforeEach, expect, test } from "vitest";
import { scoreNow } from "../../../service/scores/score-on-demand.ts";
import { type ScoredWallets, scoreAtNewest } from "../../../service/scores/score-wallets.ts";
import { storeRecords } from "../../../service/scores/store-records.ts";
import { account } from "../model/features/histories.ts";
import { createRecordWorld, NEWEST, type RecordWorld } from "./record-world.ts";

const WALLETS = Array.from({ length: 300 }, (_, position) => account(position + 1));
let world: RecordWorld;

beforeEach(async () => {
  world = await createRecordWorld();
});
afterEach(() => world.close());

async function scored(): Promise<ScoredWallets> {
  const found = await scoreAtNewest(world.context, WALLETS);
  if (found === null) throw new Error("no block to score at");
  return found;
}

test("a record of a block that a reorg took out meanwhile is not stored", async () => {
  await world.follow(account(1), 1);
  const records = await scored();
  await world.reorg(NEWEST);
  expect(await storeRecords(world.context, records)).toBe(0);
  expect(await world.countScores()).toBe(0);
});

test("a record of a chain whose index was cleared meanwhile is not stored", async () => {
  await world.follow(account(1), 1);
  const records = await scored();
  await world.dropIndex();
  expect(await storeRecords(world.context, records)).toBe(0);
  expect(await world.countScores()).toBe(0);
});

test("writers of the same wallets in opposite orders do not block each other, and nothing is stored twice", async () => {
  for (const wallet of WALLETS) await world.follow(wallet, 1);
  const records = await scored();
  const reversed = { ...records, records: records.records.toReversed() };
  for (let round = 0; round < 4; round += 1) {
    const stored = [records, reversed, records].map((given) => storeRecords(world.context, given));
    expect(await Promise.all(stored)).toEqual([300, 300, 300]);
  }
  expect(await world.countScores()).toBe(300);
});

test("a wallet neither followed nor listed is not indexed, and nothing is stored of it", async () => {
  expect(await scoreNow(world.context, account(1))).toEqual({ kind: "not-indexed" });
  expect(await world.countScores()).toBe(0);
});
