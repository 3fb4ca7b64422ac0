import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gradeOf } from "../../../service/chain/oracle-codec.ts";
import { createPublishMetrics, runPublisher } from "../../../service/oracle/publisher.ts";
import { CHAIN_ID } from "../sender/sender-under-test.ts";
import { until } from "../sender/sender-world.ts";
import { createPublishWorld, type PublishWorld, testPublishPolicy, testWallet } from "./publish-world.ts";

let world: PublishWorld;
let stop: AbortController;
let running: Promise<unknown>;
const errors: string[] = [];
const registry = new Registry();
const metrics = createPublishMetrics(registry);

beforeEach(async () => {
  registry.resetMetrics();
  errors.length = 0;
  world = await createPublishWorld();
  stop = new AbortController();
  const publishing = runPublisher(
    {
      chainId: CHAIN_ID,
      db: world.db,
      oracle: world.oracle,
      sender: world.sender,
      policy: testPublishPolicy,
      metrics,
      logger: pino({ level: "error" }, { write: (line: string) => errors.push(line) }),
      now: () => new Date(),
      pollMs: 20,
    },
    stop.signal,
  );
  running = Promise.all([publishing, keepSynced()]);
  world.startSender();
});

afterEach(async () => {
  stop.abort();
  await running;
  await world.destroy();
});

async function keepSynced(): Promise<void> {
  while (!stop.signal.aborted) {
    await world.sync();
    await sleep(50);
  }
}

test("scores that come in while others are under way end up on chain, the newest of each wallet", async () => {
  const wallets = Array.from({ length: 20 }, (_, index) => testWallet(index));
  const newest = new Map<string, number>();
  for (let asOf = 4; asOf < 16; asOf += 1) {
    const scores = wallets.map((wallet, index) => ({ wallet, asOf, points: (index * 7 + asOf * 13) % 101 }));
    for (const { wallet, points } of scores) newest.set(wallet, points);
    // Two writers at once, as several workers would.
    await Promise.all([world.store(scores.slice(0, 12)), world.store(scores.slice(12).reverse())]);
    await sleep(30);
  }
  await until(
    async () =>
      (await world.intents()).every((row) => row.state === "confirmed" || row.state === "superseded")
        ? true
        : null,
    () => "all intents to be settled",
  );
  for (const wallet of wallets) {
    const points = newest.get(wallet) ?? Number.NaN;
    const record = await world.scoreOf(wallet);
    expect(Math.abs(record.score - points)).toBeLessThan(3);
    expect(gradeOf(record.score)).toBe(gradeOf(points));
  }
  const nonces = (await world.rows()).map((row) => row.nonce);
  expect(nonces).toEqual(nonces.map((_, index) => index));
});

test("a round that fails is tried again, and what was published is counted", async () => {
  const wallet = testWallet(1);
  await world.db.execute("alter table ahs.wallet_interest rename to away");
  await until(
    async () => (errors.some((line) => line.includes("publishing round failed")) ? true : null),
    () => "a failed round",
  );
  await world.db.execute("alter table ahs.away rename to wallet_interest");
  await world.store([{ wallet, asOf: 5, points: 80 }]);
  await until(
    async () => {
      const text = await registry.getSingleMetricAsString("ahs_publish_published_total");
      return text.includes('ahs_publish_published_total{reason="first"} 1') ? true : null;
    },
    () => "the published score to be counted",
  );
  expect(await world.scoreOf(wallet)).toMatchObject({ score: 80 });
});
