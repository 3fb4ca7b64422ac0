import { afterEach, beforeEach, expect, test } from "vitest";
import { agentHealthOracleAbi } from "../../../service/chain/abi/agent-health-oracle.ts";
import { quarantine } from "../../../service/db/tables/quarantine.ts";
import { score } from "../../../service/db/tables/score.ts";
import { insertPending, supersedePending } from "../../../service/oracle/publish-intents.ts";
import { findOvertakenScores } from "../../../service/oracle/publish-scores.ts";
import { CHAIN_ID } from "../sender/sender-under-test.ts";
import { until } from "../sender/sender-world.ts";
import { createPublishWorld, type PublishWorld, testPublishPolicy, testWallet } from "./publish-world.ts";

let world: PublishWorld;
const wallet = testWallet(1);
const other = testWallet(2);

beforeEach(async () => {
  world = await createPublishWorld();
});

afterEach(() => world.destroy());

async function publishedLogs(): Promise<number> {
  const logs = await world.client.getContractEvents({
    address: world.oracle,
    abi: agentHealthOracleAbi,
    eventName: "Published",
    fromBlock: 0n,
  });
  return logs.length;
}

/** Makes rounds until the condition holds. */
function roundsUntil(
  what: string,
  condition: () => Promise<boolean>,
  ...of: Parameters<PublishWorld["round"]>
): Promise<true> {
  return until(
    async () => {
      await world.round(...of);
      return (await condition()) ? true : null;
    },
    () => what,
  );
}

test("a batch of scores is on chain as it is stored, in one transaction", async () => {
  world.startSender();
  const scores = Array.from({ length: 100 }, (_, index) => ({
    wallet: testWallet(index),
    asOf: 5,
    points: index,
  }));
  await world.store(scores);
  await world.settle();
  expect(await publishedLogs()).toBe(1);
  for (const { wallet: address, points } of scores) {
    expect(await world.scoreOf(address)).toMatchObject({
      exists: true,
      score: points,
      d1: points,
      d2: points,
      confidence: 8123,
      sanctioned: false,
      insufficient: false,
      modelVersion: 20260,
      asOf: 5n,
    });
  }
  expect(new Set((await world.intents()).map((intent) => `${intent.reason} ${intent.state}`))).toEqual(
    new Set(["first confirmed"]),
  );
});

test("a record carries the safe amount of its wallet and the intent keeps it, but for a sanctioned wallet", async () => {
  world.startSender();
  await world.back(wallet, 123_456_789n);
  await world.back(other, 99_000_000n);
  await world.store([
    { wallet, asOf: 5, points: 80 },
    { wallet: other, asOf: 5, points: 0, sanctionedBy: ["ofac-sdn"] },
    { wallet: testWallet(3), asOf: 5, points: 70 },
  ]);
  await world.settle();
  const amounts = await Promise.all([wallet, other, testWallet(3)].map((one) => world.scoreOf(one)));
  expect(amounts.map(({ safeAmount }) => safeAmount)).toEqual([123_440_000n, 0n, 0n]);
  const rows = (await world.intents()).map((intent) => [intent.wallet, intent.state, intent.safeMicroUsd]);
  expect(rows).toEqual([
    [wallet, "confirmed", 123_456_789n],
    [other, "confirmed", 0n],
    [testWallet(3), "confirmed", 0n],
  ]);
});

test("a safe amount that fell below half of the record's is published with the next score, one that fell to half is not", async () => {
  world.startSender();
  const small = testWallet(3);
  for (const one of [wallet, other]) await world.back(one, 20_000_000n);
  await world.back(small, 900_000n);
  await world.store([wallet, other, small].map((one) => ({ wallet: one, asOf: 5, points: 80 })));
  await world.settle();
  // By two steps, none of which halves it.
  for (const safe of [11_000_000n, 9_990_000n]) await world.back(wallet, safe);
  await world.back(other, 10_000_000n);
  await world.back(small, 400_000n);
  const stale = { chainId: CHAIN_ID, now: new Date(), policy: testPublishPolicy };
  expect(await findOvertakenScores(world.db, stale)).toEqual([wallet, small]);
  await world.store([wallet, other, small].map((one) => ({ wallet: one, asOf: 6, points: 80 })));
  await world.settle();
  expect((await world.intents()).map((intent) => `${intent.reason} ${intent.safeMicroUsd}`)).toEqual([
    "first 20000000",
    "first 20000000",
    "first 900000",
    "backing 9990000",
    "backing 400000",
  ]);
  expect(await world.scoreOf(wallet)).toMatchObject({ safeAmount: 9_990_000n, asOf: 6n });
  expect(await world.scoreOf(other)).toMatchObject({ safeAmount: 20_000_000n, asOf: 5n });
});

test("an intent is sent with the safe amount that is known then", async () => {
  await world.back(wallet, 20_000_000n);
  await world.store([{ wallet, asOf: 5, points: 80 }]);
  await world.back(wallet, 3_000_000n);
  world.startSender();
  await world.settle();
  expect(await world.scoreOf(wallet)).toMatchObject({ safeAmount: 3_000_000n });
});

test("a score that cannot be planned fails alone and is quarantined, and the others are published", async () => {
  world.startSender();
  await world.store([wallet, other].map((address) => ({ wallet: address, asOf: 5, points: 80 })));
  await world.settle();
  await world.store([wallet, other].map((address) => ({ wallet: address, asOf: 6, points: 50 })));
  await world.db.execute(
    `update ahs.score set ahs_score = 500 where wallet = '${wallet}' and as_of_block = 6`,
  );
  await world.settle();
  await world.round();
  expect(await world.scoreOf(wallet)).toMatchObject({ score: 80, asOf: 5n });
  expect(await world.scoreOf(other)).toMatchObject({ score: 50, asOf: 6n });
  expect(await world.db.select().from(quarantine)).toMatchObject([
    {
      kind: "publish",
      subject: wallet,
      failures: 1,
      error: expect.stringContaining("integer from 0 to 100"),
    },
  ]);
});

test("a newer score takes the place of one that is still pending", async () => {
  await world.store([{ wallet, asOf: 5, points: 80 }]);
  await world.store([{ wallet, asOf: 6, points: 70 }]);
  world.startSender();
  await world.settle();
  expect((await world.intents()).map((intent) => intent.state)).toEqual(["superseded", "confirmed"]);
  expect(await world.scoreOf(wallet)).toMatchObject({ score: 70, asOf: 6n });
  expect(await publishedLogs()).toBe(1);
});

test("a score that came back near the published one is not sent after all", async () => {
  world.startSender();
  await world.store([{ wallet, asOf: 5, points: 80 }]);
  await world.settle();
  await world.store([{ wallet, asOf: 6, points: 85 }]);
  await world.store([{ wallet, asOf: 7, points: 81 }]);
  await world.settle();
  expect((await world.intents()).map((intent) => `${intent.reason} ${intent.state}`)).toEqual([
    "first confirmed",
    "move superseded",
  ]);
  expect(await world.scoreOf(wallet)).toMatchObject({ score: 80 });
});

test("a wallet that lost its history is published as insufficient, one never published is not", async () => {
  world.startSender();
  await world.store([{ wallet, asOf: 5, points: 80 }]);
  await world.settle();
  await world.store([
    { wallet, asOf: 6, points: null },
    { wallet: other, asOf: 6, points: null },
  ]);
  await world.settle();
  expect(await world.scoreOf(wallet)).toMatchObject({ exists: true, insufficient: true, grade: 0 });
  expect(await world.scoreOf(other)).toMatchObject({ exists: false });
});

test("a reorg of the publishing block brings the record back, with nothing published twice", async () => {
  world.startSender();
  await world.store([{ wallet, asOf: 5, points: 80 }]);
  await world.settle();
  const [row] = await world.rows();
  await world.reach(row?.id ?? 0, "mined");
  await world.automine(false);
  await world.reorg(1);
  expect(await world.scoreOf(wallet)).toMatchObject({ exists: false });
  await roundsUntil(
    "the outbox to notice the reorg",
    async () => (await world.intents())[0]?.state === "sent",
  );
  await world.reach(row?.id ?? 0, "broadcast");
  // The sender may send it to the node again only after this.
  await world.automine(true);
  await world.mine();
  await world.settle();
  expect(await world.scoreOf(wallet)).toMatchObject({ exists: true, score: 80, asOf: 5n });
  expect(await publishedLogs()).toBe(1);
  expect((await world.intents()).map((intent) => intent.state)).toEqual(["confirmed"]);
});

test("a record that the owner cleared is published again from a newer score, as the chain shows it", async () => {
  world.startSender();
  await world.store([{ wallet, asOf: 5, points: 80 }]);
  await world.settle();
  await world.asOwner("invalidate", [[wallet]]);
  await world.round();
  expect((await world.intents()).map((intent) => intent.state)).toEqual(["confirmed"]);
  await world.store([{ wallet, asOf: 6, points: 80 }]);
  await world.settle();
  expect(await world.scoreOf(wallet)).toMatchObject({ exists: true, score: 80, asOf: 6n });
});

test("scores stored while there was no index get their intents later", async () => {
  await world.db.$client.query("alter schema chain_31337 rename to away");
  await world.store([{ wallet, asOf: 5, points: 80 }]);
  expect(await world.intents()).toEqual([]);
  world.startSender();
  await world.db.$client.query("alter schema away rename to chain_31337");
  await roundsUntil("the record", async () => (await world.scoreOf(wallet)).exists);
});

test("a paused oracle costs no fees, and publishing goes on when it is resumed", async () => {
  await world.asOwner("setPaused", [true]);
  world.startSender();
  await world.store([{ wallet, asOf: 5, points: 80 }]);
  const failures = async () => (await world.intents()).filter((intent) => intent.state === "failed");
  await roundsUntil("two refused tries", async () => (await failures()).length >= 2);
  const failed = await failures();
  expect(failed.map((intent) => [intent.error, intent.attempts])).toEqual(
    failed.map((_, index) => ["WritesPaused", index]),
  );
  expect(await world.client.getTransactionCount({ address: world.sender })).toBe(0);
  await world.asOwner("setPaused", [false]);
  await roundsUntil("the record", async () => (await world.scoreOf(wallet)).exists);
  expect(await publishedLogs()).toBe(1);
});

test("when the day's gas is spent heartbeats wait and sanctions flags go", async () => {
  world.startSender();
  await world.store([wallet, other].map((address) => ({ wallet: address, asOf: 5, points: 80 })));
  await world.settle();
  await world.care(wallet);
  const spent = { ...testPublishPolicy, dailyGas: 1n, heartbeatMs: 0 };
  await world.store(
    [
      { wallet, asOf: 6, points: 80 },
      { wallet: other, asOf: 6, points: 0, sanctionedBy: ["chainalysis-oracle"] },
    ],
    spent,
  );
  await roundsUntil("the flag", async () => (await world.scoreOf(other)).sanctioned, spent);
  expect(await world.scoreOf(wallet)).toMatchObject({ asOf: 5n });
  expect((await world.intents()).slice(2).map((intent) => `${intent.reason} ${intent.state}`)).toEqual([
    "heartbeat pending",
    expect.stringMatching(/^flag (sent|confirmed)$/),
  ]);
  const tomorrow = new Date(Date.now() + 86_400_000);
  const isRenewed = async () => (await world.scoreOf(wallet)).asOf === 6n;
  const tomorrows = [{ ...testPublishPolicy, heartbeatMs: 0 }, tomorrow] as const;
  await roundsUntil("the heartbeat of the next day", isRenewed, ...tomorrows);
});

test("a score that cannot be packed fails for good and delays no other", async () => {
  world.startSender();
  await world.store([wallet, other].map((address) => ({ wallet: address, asOf: 5, points: 80 })));
  await world.db.$client.query("update ahs.score set model_version = 'AHS-next' where wallet = $1", [other]);
  await world.settle();
  await world.round();
  expect((await world.intents()).map((intent) => intent.state)).toEqual(["confirmed", "failed"]);
  expect(await world.scoreOf(wallet)).toMatchObject({ score: 80 });
});

test("two processes in the same round queue each score once", async () => {
  await world.store(
    Array.from({ length: 250 }, (_, index) => ({ wallet: testWallet(index), asOf: 5, points: 80 })),
  );
  const rounds = await Promise.all([1, 2, 3].map(() => world.roundWithoutSync()));
  expect(rounds.filter((round) => round.kind === "done").length).toBeGreaterThan(0);
  const rows = await world.rows();
  expect(rows.map((row) => row.state)).toEqual(["queued", "queued", "queued"]);
  world.startSender();
  await world.settle();
  expect(await publishedLogs()).toBe(3);
});

test("a late intent of an older score neither takes back nor replaces that of the current one", async () => {
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
