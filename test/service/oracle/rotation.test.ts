import pino from "pino";
import { Registry } from "prom-client";
import { createWalletClient, encodeFunctionData, http, isAddressEqual } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { agentHealthOracleAbi } from "../../../service/chain/abi/agent-health-oracle.ts";
import { createPublishMetrics, publishRound } from "../../../service/oracle/publisher.ts";
import { handOverPass } from "../../../service/sender/hand-over.ts";
import { createSenderMetrics } from "../../../service/sender/send-metrics.ts";
import { createSenderRpc } from "../../../service/sender/send-rpc.ts";
import { tryOpenSenderSession } from "../../../service/sender/sender-loop.ts";
import { CHAIN_ID, localAccount, testPolicy } from "../sender/sender-under-test.ts";
import { until } from "../sender/sender-world.ts";
import { createPublishWorld, type PublishWorld, testPublishPolicy, testWallet } from "./publish-world.ts";

const [owner, former, next] = [localAccount(0), localAccount(1), localAccount(2)];
const logger = pino({ level: "silent" });
let world: PublishWorld;

beforeEach(async () => {
  world = await createPublishWorld();
});
afterEach(() => world.destroy());

function publisherAt(block: number) {
  const oracle = { address: world.oracle, abi: agentHealthOracleAbi } as const;
  return world.client.readContract({ ...oracle, functionName: "publisher", blockNumber: BigInt(block) });
}

/** Takes over with the new key, as a worker does. Returns null while a process sends for the former key. */
async function takeOver(): Promise<true | null> {
  const options = { databaseUrl: world.databaseUrl, chainId: CHAIN_ID, sender: former.address };
  const session = await tryOpenSenderSession({ ...options, retryMs: 100, statementTimeoutMs: 5_000 });
  if (session === null) return null;
  try {
    await handOverPass({
      chainId: CHAIN_ID,
      from: former.address,
      to: next.address,
      purposes: ["publish", "publish-root", "enrol"],
      exclusive: ["publish", "publish-root"],
      holdsRole: async () => true,
      hasLostRole: async (block) => !isAddressEqual(await publisherAt(block), former.address),
      rpc: createSenderRpc({ url: world.rpcUrl, timeoutMs: 5_000, retries: 1 }),
      db: session.db,
      policy: testPolicy,
      metrics: createSenderMetrics(new Registry()),
      logger,
      now: () => new Date(),
    });
    return true;
  } finally {
    await session.release();
  }
}

const metrics = createPublishMetrics(new Registry());

async function roundOfNext(): Promise<void> {
  await world.sync();
  const { db, oracle } = world;
  const common = { chainId: CHAIN_ID, db, oracle, sender: next.address, logger, metrics, pollMs: 20 };
  await publishRound({ ...common, policy: testPublishPolicy, now: () => new Date() });
}

async function setPublisher(): Promise<void> {
  const wallet = createWalletClient({ account: owner, transport: http(world.rpcUrl) });
  const data = encodeFunctionData({
    abi: agentHealthOracleAbi,
    functionName: "setPublisher",
    args: [next.address],
  });
  // Before what the former publisher has in the pool.
  const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };
  await wallet.sendTransaction({ to: world.oracle, data, gas: 100_000n, chain: null, ...fees });
}

test("a publisher replaced in the middle of publishing leaves nothing unpublished, and nothing twice", async () => {
  const asOf = (await world.client.getBlock()).number;
  const score = (number: number) => ({ wallet: testWallet(number), asOf: Number(asOf), points: 60 + number });
  const wallets = [1, 2, 3, 4].map(testWallet);

  // Mined by the former key; in its pool, to be overtaken; queued without a nonce.
  const sender = world.startSender({ account: former });
  await world.store([score(1)]);
  await world.round();
  await until(
    async () => ((await world.rows()).every((row) => row.state === "mined") ? true : null),
    () => "the first publication",
  );
  await world.automine(false);
  await world.store([score(2)]);
  await world.round();
  await until(
    async () => ((await world.rows()).some((row) => row.state === "broadcast") ? true : null),
    () => "the second publication to be in the pool",
  );
  expect(await takeOver()).toBeNull();
  await sender.stop();
  await world.store([score(3)]);
  await world.round();
  await setPublisher();
  await world.mine();
  await world.automine(true);

  await until(takeOver, () => "the former key's lock");
  world.startSender({ account: next });
  await world.store([score(4)]);
  await until(
    async () => {
      await takeOver();
      await world.mine();
      await roundOfNext();
      const open = (await world.intents()).filter(({ state }) => state === "pending" || state === "sent");
      const rows = (await world.rows()).filter(({ final, state }) => !final && state !== "failed");
      return open.length + rows.length === 0 ? true : null;
    },
    () => "everything to be settled",
  );

  for (const [index, wallet] of wallets.entries())
    expect(await world.scoreOf(wallet)).toMatchObject({ score: 61 + index });
  const published = await world.client.getContractEvents({
    address: world.oracle,
    abi: agentHealthOracleAbi,
    eventName: "Published",
    fromBlock: 0n,
  });
  const words = published.flatMap(({ args }) => args.packed ?? []).map((word) => word.slice(0, 42));
  expect(words.toSorted()).toEqual(wallets);
});

test("a transaction that a former key left in the pool is given up once its loss is final", async () => {
  const asOf = Number((await world.client.getBlock()).number);
  const sender = world.startSender({ account: former });
  await world.automine(false);
  await world.store([{ wallet: testWallet(1), asOf, points: 70 }]);
  await world.round();
  await until(
    async () => ((await world.rows()).some((row) => row.state === "broadcast") ? true : null),
    () => "the publication to be in the pool",
  );
  await sender.stop();
  await world.request("anvil_dropAllTransactions");
  // No money is left to the former key: what it signed is never mined.
  await world.request("anvil_setBalance", former.address, "0x0");
  await setPublisher();
  await world.mine(testPolicy.finalityBlocks + 2);
  await until(takeOver, () => "the former key's lock");
  expect(await world.rows()).toMatchObject([{ state: "failed", nonce: null }]);
  await world.automine(true);
  world.startSender({ account: next });
  await until(
    async () => {
      await roundOfNext();
      return (await world.intents()).at(-1)?.state === "confirmed" ? true : null;
    },
    () => "the new publisher to publish it",
  );
  expect(await world.scoreOf(testWallet(1))).toMatchObject({ score: 70 });
});
