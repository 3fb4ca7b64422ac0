import { afterEach, beforeEach, expect, test } from "vitest";
import { scoreAllWallets, scoreDueWallets } from "../../../service/record/run-scoring.ts";
import { scoreNow } from "../../../service/record/score-now.ts";
import { account } from "../features/histories.ts";
import { createRecordWorld, FINALIZED, NEWEST, type RecordWorld } from "./record-world.ts";

const WALLET = account(7);
let world: RecordWorld;

beforeEach(async () => {
  world = await createRecordWorld();
});
afterEach(() => world.close());

test("a listed wallet that nobody follows is no longer sanctioned once it is delisted, on chain either", async () => {
  await world.sanction(WALLET, 10);
  await scoreNow(world.context, WALLET);
  await world.publishSanctioned(WALLET, FINALIZED);
  expect(await world.currentScores()).toEqual([
    { wallet: WALLET, as_of_block: FINALIZED, sanctioned: true, grade: "F" },
  ]);

  await world.sanction(WALLET, 45, false);
  expect(await scoreDueWallets(world.context)).toEqual({ scored: 0, flagged: 1 });
  expect(await world.currentScores()).toEqual([
    { wallet: WALLET, as_of_block: NEWEST, sanctioned: false, grade: null },
  ]);
  expect(await world.pendingIntents()).toEqual([{ wallet: WALLET, reason: "flag" }]);
  expect(await scoreDueWallets(world.context)).toEqual({ scored: 0, flagged: 0 });
});

test("a registration and a listing that a reorg took out leave no sanctioned score behind", async () => {
  await world.follow(WALLET, 44);
  await world.sanction(WALLET, 46);
  await scoreNow(world.context, WALLET);
  expect(await world.currentScores()).toMatchObject([{ as_of_block: NEWEST, sanctioned: true }]);

  await world.reorg(43);
  expect(await scoreDueWallets(world.context)).toEqual({ scored: 0, flagged: 1 });
  expect(await world.currentScores()).toMatchObject([{ sanctioned: false, grade: null }]);
  expect(await scoreDueWallets(world.context)).toEqual({ scored: 0, flagged: 0 });
});

test("a flag that a reorg left in the oracle is corrected by the next block, not by the next final one", async () => {
  await world.follow(WALLET, 1);
  await scoreDueWallets(world.context);
  await world.publishSanctioned(WALLET, NEWEST);
  await scoreDueWallets(world.context);
  expect(await world.pendingIntents()).toEqual([]);

  await world.mine(NEWEST + 1);
  await scoreDueWallets(world.context);
  expect(await world.currentScores()).toMatchObject([{ as_of_block: NEWEST + 1, sanctioned: false }]);
  expect(await world.pendingIntents()).toEqual([{ wallet: WALLET, reason: "flag" }]);
});

test("a wallet whose registration is not final yet gets no score by night", async () => {
  await world.follow(WALLET, FINALIZED + 1);
  expect(await scoreAllWallets(world.context)).toBe(0);
  expect(await world.countScores()).toBe(0);
});
