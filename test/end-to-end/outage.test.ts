import { setTimeout as sleep } from "node:timers/promises";
import { getAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CuttableProxy, startCuttableProxy } from "../support/anvil-testkit/cuttable-proxy.ts";
import { type Script, until } from "../support/anvil-testkit/script.ts";
import { startWorker } from "../support/anvil-testkit/services.ts";
import { bootTestkit, type Testkit } from "../support/anvil-testkit/testkit.ts";

const AGENT = getAddress("0x00000000000000000000000000000000000a9e01");
const OUTAGE_MS = 4_000;
const RECOVERY_MS = 40_000;

let kit: Testkit;
let database: CuttableProxy;
let node: CuttableProxy;
let worker: Script;

beforeAll(async () => {
  kit = await bootTestkit({ ageSeconds: 20 * 86_400 });
  await kit.chain.register(AGENT);
  await kit.chain.succeedInCrowd(AGENT);
  for (let call = 0; call < 36; call += 1) {
    await kit.chain.moveTime(43_200);
    await kit.chain.succeed(AGENT);
  }
  await kit.chain.toWallClock();
  [database, node] = await Promise.all([
    startCuttableProxy(kit.databaseUrl),
    startCuttableProxy(kit.chain.rpcUrl),
  ]);
  await kit.startIndexer();
  worker = startWorker({ ...kit, databaseUrl: database.url, rpcUrl: node.url });
  kit.onClose(worker.stop);
  await publishedAfter(0);
}, 90_000);

afterAll(async () => {
  await kit.close();
  await Promise.all([database.close(), node.close()]);
});

test.each([
  ["database", () => database],
  ["node", () => node],
])(
  "a worker outlives the loss of its %s, and publishes what happened meanwhile",
  async (_, part) => {
    const before = (await onChain()).asOf;
    part().cut();
    for (let call = 0; call < 6; call += 1) await kit.chain.revert(AGENT);
    await sleep(OUTAGE_MS);
    part().restore();
    await publishedAfter(before);
    const exited = await Promise.race([worker.exited.then(() => true), sleep(0).then(() => false)]);
    expect(exited).toBe(false);
  },
  90_000,
);

/** Lets the chain go on until the oracle's record is of a later block; six failures more move every score enough. */
async function publishedAfter(asOf: number): Promise<void> {
  await until({ what: `a record after block ${asOf}`, timeoutMs: RECOVERY_MS }, async () => {
    await kit.chain.tick();
    await sleep(100);
    return (await onChain()).asOf > asOf ? true : null;
  });
}

async function onChain(): Promise<{ asOf: number }> {
  const there = await kit.db.$client.query(
    "select to_regclass('chain_31337.oracle_score') is not null as there",
  );
  if (there.rows[0]?.there !== true) return { asOf: 0 };
  const { rows } = await kit.db.$client.query("select max(as_of) as as_of from chain_31337.oracle_score");
  return { asOf: Number(rows[0]?.as_of ?? 0) };
}
