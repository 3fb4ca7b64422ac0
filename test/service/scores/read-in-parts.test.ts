import { afterEach, beforeEach, expect, test } from "vitest";
import { createContactCaches } from "../../../service/scores/read/contact-graph.ts";
import { readInParts } from "../../../service/scores/score-wallets.ts";
import { account } from "../model/features/histories.ts";
import { createRecordWorld, type RecordWorld } from "./record-world.ts";

let world: RecordWorld;

beforeEach(async () => {
  world = await createRecordWorld();
});
afterEach(() => world.close());

test("reads a batch in parts of a bounded number of calls, a wallet with more alone, and each wallet once", async () => {
  const wallets = [1, 2, 3, 4, 5].map(account);
  for (const wallet of wallets) await world.follow(wallet, 1);
  // The third wallet has more than a part may hold.
  for (const [wallet, calls] of [
    [2, 1],
    [3, 10],
    [4, 1],
    [5, 1],
  ] as const) {
    for (let block = 1; block <= calls; block += 1) await world.call(account(wallet), block, account(0xc0));
  }
  const task = { wallets, at: "finalized", contacts: createContactCaches() } as const;
  const parts: string[][] = [];
  for await (const { known } of readInParts(world.context, task, 3)) {
    parts.push(known.map(({ rows }) => rows.wallet).toSorted());
  }
  expect(parts).toEqual([[account(1), account(2)], [account(3)], [account(4), account(5)]]);
});
