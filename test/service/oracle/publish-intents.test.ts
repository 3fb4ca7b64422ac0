import { afterEach, beforeEach, expect, test } from "vitest";
import { score } from "../../../service/db/tables/score.ts";
import { insertPending, supersedePending } from "../../../service/oracle/publish-intents.ts";
import { CHAIN_ID } from "../sender/sender-under-test.ts";
import { createPublishWorld, type PublishWorld, testWallet } from "./publish-world.ts";

const wallet = testWallet(1);
let world: PublishWorld;

beforeEach(async () => {
  world = await createPublishWorld();
});
afterEach(() => world.destroy());

test("whoever still speaks for an older score neither takes back nor replaces the intent of the current one", async () => {
  await world.store([{ wallet, asOf: 5, points: 80 }]);
  await world.store([{ wallet, asOf: 6, points: 0, sanctionedBy: ["chainalysis-oracle"] }]);
  const [older, newer] = await world.db.select({ id: score.id }).from(score).orderBy(score.id);

  await supersedePending(world.db, CHAIN_ID, [wallet]);
  const late = { wallet, scoreId: older?.id ?? 0, reason: "move", attempts: 0, notBefore: null } as const;
  await insertPending(world.db, CHAIN_ID, [late]);
  expect((await world.intents()).map(({ scoreId, state, reason }) => [scoreId, state, reason])).toEqual([
    [older?.id, "superseded", "first"],
    [newer?.id, "pending", "flag"],
  ]);
});
