import { afterEach, beforeEach, expect, test } from "vitest";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import { compareOnSnapshot } from "../../../service/scores/compare-policies.ts";
import { account } from "../model/features/histories.ts";
import { createRecordWorld, FINALIZED, type RecordWorld } from "./record-world.ts";

const OTHER = { ...AHS_2026_2, version: "AHS-2026.x" };
let world: RecordWorld;

beforeEach(async () => {
  world = await createRecordWorld();
});
afterEach(() => world.close());

test("every followed wallet is scored under both policies, and nothing is stored", async () => {
  await world.follow(account(2), 1);
  await world.follow(account(1), 1);
  const compared = await compareOnSnapshot(world.context, { other: OTHER, wallets: null });
  expect(compared?.asOf.blockNumber).toBe(FINALIZED);
  expect(
    compared?.pairs.map(({ before, after }) => [
      before.wallet,
      before.modelVersion,
      after.wallet,
      after.modelVersion,
    ]),
  ).toEqual([account(1), account(2)].map((wallet) => [wallet, AHS_2026_2.version, wallet, OTHER.version]));
  expect(await world.countScores()).toBe(0);
  expect((await world.query("select from ahs.input_file")).rowCount).toBe(0);
});

test("the wallets given are scored alone, those that nothing is known of left out", async () => {
  await world.follow(account(1), 1);
  await world.follow(account(2), 1);
  const wallets = [account(2), account(3)];
  const compared = await compareOnSnapshot(world.context, { other: OTHER, wallets });
  expect(compared?.pairs.map(({ before }) => before.wallet)).toEqual([account(2)]);
});

test("there is nothing to compare before a block is final and enriched", async () => {
  await world.query("delete from ahs.enrich_cursor");
  expect(await compareOnSnapshot(world.context, { other: OTHER, wallets: null })).toBeNull();
});
