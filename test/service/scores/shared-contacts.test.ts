import { afterEach, beforeEach, expect, test } from "vitest";
import { createContactCaches } from "../../../service/scores/read/contact-graph.ts";
import { scoreAtFinalized } from "../../../service/scores/score-wallets.ts";
import { account } from "../model/features/histories.ts";
import { createRecordWorld, type RecordWorld } from "./record-world.ts";

let world: RecordWorld;
beforeEach(async () => {
  world = await createRecordWorld();
});
afterEach(() => world.close());

test("scores wallets in lanes with shared contacts exactly as each with its own, and reads a hub's users once", async () => {
  const [hub, wallets] = [account(0xc0), [1, 2, 3, 4, 5, 6].map(account)];
  await world.learn(hub);
  for (const [index, wallet] of wallets.entries()) {
    await world.follow(wallet, 1);
    for (let block = 2; block <= 12 + index; block += 1) {
      await world.call(wallet, block, block % 3 === 0 ? account(0xd0 + index) : hub);
    }
  }
  const contacts = createContactCaches();
  const shared = { ...world.context, contacts };
  const own = await Promise.all(wallets.map((wallet) => scoreAtFinalized(world.context, [wallet])));
  expect(own.map((scored) => scored?.records.length)).toEqual(wallets.map(() => 1));
  for (const _round of [1, 2]) {
    expect(await Promise.all(wallets.map((wallet) => scoreAtFinalized(shared, [wallet])))).toEqual(own);
  }
  const block = own[0]?.asOf.blockHash;
  if (block === undefined) throw new Error("nothing was scored");
  expect(contacts(block).users.get(hub)).toBeDefined();
});
