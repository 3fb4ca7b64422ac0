import { afterEach, beforeEach, expect, test } from "vitest";
import { publishIntent } from "../../../service/db/tables/publish.ts";
import type { SanctionsFlag } from "../../../service/model/features/types.ts";
import {
  findChangedFlags,
  findOvertakenScores,
  readScoresToReview,
  reviewQuery,
} from "../../../service/oracle/publish-scores.ts";
import { CHAIN_ID } from "../sender/sender-under-test.ts";
import { createPublishWorld, type PublishWorld, testPublishPolicy, testWallet } from "./publish-world.ts";

let world: PublishWorld;
const wallet = testWallet(1);
const other = testWallet(2);

beforeEach(async () => {
  world = await createPublishWorld();
});

afterEach(() => world.destroy());

const find = async (now: Date = new Date()) => ({
  flagChanged: await findChangedFlags(world.db, CHAIN_ID),
  overtaken: await findOvertakenScores(world.db, { chainId: CHAIN_ID, now, policy: testPublishPolicy }),
});

async function sanctionsEvent(listed: boolean, block: number): Promise<void> {
  await world.db.$client.query(
    "insert into chain_31337.sanctions_change values ($1, $2, $3, 0, 1790000000, '0x01')",
    [wallet, listed, block],
  );
}

async function importListing(): Promise<void> {
  await world.db.$client.query("insert into ahs.sanctions_entry values ('ofac-sdn', $1, '12345', now())", [
    wallet,
  ]);
}

test("a wallet listed since its score is to be scored again, until the listing is scored or undone", async () => {
  await world.store([wallet, other].map((address) => ({ wallet: address, asOf: 5, points: 80 })));
  expect(await find()).toEqual({ flagChanged: [], overtaken: [] });
  await sanctionsEvent(true, 6);
  expect(await find()).toEqual({ flagChanged: [wallet], overtaken: [] });
  await world.store([{ wallet, asOf: 7, points: 0, sanctionedBy: ["chainalysis-oracle"] }]);
  expect(await find()).toEqual({ flagChanged: [], overtaken: [] });
  await sanctionsEvent(false, 8);
  expect(await find()).toEqual({ flagChanged: [wallet], overtaken: [] });
});

test("a wallet on an imported list, or listed before the index begins, is to be scored again, and so when it is off it", async () => {
  const store = (asOf: number, sanctionedBy: readonly SanctionsFlag["source"][]) =>
    world.store([{ wallet, asOf, points: sanctionedBy.length > 0 ? 0 : 80, sanctionedBy }]);
  await store(5, []);
  await importListing();
  expect((await find()).flagChanged).toEqual([wallet]);
  await store(6, ["ofac-sdn"]);
  expect((await find()).flagChanged).toEqual([]);
  await world.db.execute("delete from ahs.sanctions_entry");
  expect((await find()).flagChanged).toEqual([wallet]);

  await store(7, []);
  await world.db.execute(
    `insert into ahs.sanctions_reading values (${CHAIN_ID}, '${wallet}', true, 5, now())`,
  );
  expect((await find()).flagChanged).toEqual([wallet]);
  await store(8, ["chainalysis-oracle"]);
  expect((await find()).flagChanged).toEqual([]);
  await sanctionsEvent(false, 9);
  expect((await find()).flagChanged).toEqual([wallet]);
});

test("a sanctioned wallet that another list names too is to be scored again, for its record to name both", async () => {
  await sanctionsEvent(true, 3);
  await world.store([{ wallet, asOf: 5, points: 0, sanctionedBy: ["chainalysis-oracle"] }]);
  await importListing();
  expect((await find()).flagChanged).toEqual([wallet]);
  await world.store([{ wallet, asOf: 6, points: 0, sanctionedBy: ["chainalysis-oracle", "ofac-sdn"] }]);
  expect((await find()).flagChanged).toEqual([]);
  await sanctionsEvent(false, 7);
  expect((await find()).flagChanged).toEqual([wallet]);
});

test("a listing that left no event behind is undone, and a flag of the oracle's as new as the score is met at once", async () => {
  world.startSender();
  await world.store([{ wallet, asOf: 5, points: 0, sanctionedBy: ["chainalysis-oracle"] }]);
  expect(await find()).toEqual({ flagChanged: [wallet], overtaken: [] });
  await world.settle();
  await world.db.execute("update ahs.current_score set sanctioned = false, ahs_score = 80, as_of_block = 4");
  expect(await find()).toEqual({ flagChanged: [wallet], overtaken: [] });
});

test("a published wallet of interest to a caller is to be scored again when its record is a day old", async () => {
  world.startSender();
  await world.store([wallet, other].map((address) => ({ wallet: address, asOf: 5, points: 80 })));
  await world.settle();
  await world.care(wallet);
  const tomorrow = new Date(Date.now() + 86_400_000);
  expect(await find()).toEqual({ flagChanged: [], overtaken: [] });
  expect(await find(tomorrow)).toEqual({ flagChanged: [], overtaken: [wallet] });
});

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
