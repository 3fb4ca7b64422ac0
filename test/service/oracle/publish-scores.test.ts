import { afterEach, beforeEach, expect, test } from "vitest";
import { publishIntent } from "../../../service/db/tables/publish.ts";
import { readScoresToReview, reviewQuery } from "../../../service/oracle/publish-scores.ts";
import { CHAIN_ID } from "../sender/sender-under-test.ts";
import { createPublishWorld, type PublishWorld, testPublishPolicy, testWallet } from "./publish-world.ts";

let world: PublishWorld;

beforeEach(async () => {
  world = await createPublishWorld();
});
afterEach(() => world.destroy());

test("only scores that publishing could be due for are reviewed: moved far, of another grade, or flagged", async () => {
  world.startSender();
  const before = [80, 80, 89, 60, 0].map((points, index) => ({ wallet: testWallet(index), asOf: 5, points }));
  await world.store(before);
  await world.settle();
  const after = [81, 83, 90, 59, null].map((points, index) => ({
    wallet: testWallet(index),
    asOf: 6,
    points,
  }));
  await world.store(after);
  await world.db.delete(publishIntent);
  const due = await readScoresToReview(world.db, reviewQuery(CHAIN_ID, new Date(), testPublishPolicy));
  const { rows } = await world.db.$client.query(
    "select wallet from ahs.score where id = any($1) order by 1",
    [due],
  );
  expect(rows.map((row) => row.wallet)).toEqual([1, 2, 3, 4].map(testWallet));
});
