import { afterEach, beforeEach, expect, test } from "vitest";
import { scoreNow } from "../../../service/scores/score-on-demand.ts";
import { account } from "../model/features/histories.ts";
import { createRecordWorld, FINALIZED, NEWEST, type RecordWorld } from "./record-world.ts";

const WALLET = account(7);
let world: RecordWorld;
beforeEach(async () => {
  world = await createRecordWorld();
  await world.follow(WALLET, 1);
});
afterEach(() => world.close());

test("a wallet is scored at the finalized block", async () => {
  expect(await scoreNow(world.context, WALLET)).toMatchObject({
    row: { asOfBlock: FINALIZED, sanctioned: false },
  });
});

test("once a listing was in a hurry, no later record goes back behind it", async () => {
  await world.sanction(WALLET, 45);
  expect(await scoreNow(world.context, WALLET)).toMatchObject({
    row: { asOfBlock: NEWEST, sanctioned: true },
  });
  await world.sanction(WALLET, 46, false);
  await world.settle(30);
  expect(await scoreNow(world.context, WALLET)).toMatchObject({
    row: { asOfBlock: NEWEST, sanctioned: false },
  });
  await world.mine(NEWEST + 1);
  await world.settle(NEWEST + 1);
  expect(await scoreNow(world.context, WALLET)).toMatchObject({ row: { asOfBlock: NEWEST + 1 } });
});

test("the answer is the row of the inputs that were read, whatever was stored for the block since", async () => {
  const first = await scoreNow(world.context, WALLET);
  await world.call(WALLET, 5, account(0xc0));
  const second = await scoreNow(world.context, WALLET);
  await world.query("delete from ahs.own_call");
  expect(await scoreNow(world.context, WALLET)).toEqual(first);
  expect(second).not.toEqual(first);
});
