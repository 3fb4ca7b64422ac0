import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { Registry } from "prom-client";
import {
  type Address,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  keccak256,
  numberToHex,
  type PublicClient,
  slice,
} from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { startAnvil } from "../devnet/anvil-process.ts";
import { deployOracle } from "../service/chain/deploy.ts";
import { gradeOf } from "../service/chain/oracle-codec.ts";
import { type Database, migrateDatabase, openDatabase } from "../service/db/database.ts";
import { senderTransaction } from "../service/db/tables/publish.ts";
import { score } from "../service/db/tables/score.ts";
import { proposeIntents } from "../service/oracle/propose-intents.ts";
import { defaultPublishPolicy as policy } from "../service/oracle/publish-policy.ts";
import { createPublishMetrics, runPublisher } from "../service/oracle/publisher.ts";
import { makeCurrent, type NewScore } from "../service/scores/store-records.ts";
import { allowedCalls } from "../service/sender/allowed-calls.ts";
import { createSenderMetrics } from "../service/sender/send-metrics.ts";
import { senderPolicy } from "../service/sender/send-policy.ts";
import { createSenderRpc } from "../service/sender/send-rpc.ts";
import { runSender } from "../service/sender/sender-loop.ts";
import { replayOracle } from "../test/service/oracle/oracle-replay.ts";
import { atMost, type BenchRow } from "./bench-row.ts";

export type PublishBenchOptions = {
  /** An empty database. */
  readonly databaseUrl: string;
  /** A free port for the node. */
  readonly port: number;
};

const CHAIN_ID = 31_337;
const WALLETS = 10_000;
const BATCH = 100;
const MNEMONIC = "test test test test test test test test test test test junk";
const LIMIT_MS = 300_000;

/** Publishes through the real outbox and sender to a node that mines every second, and compares with the bars. */
export async function benchPublish(options: PublishBenchOptions): Promise<BenchRow[]> {
  const anvil = await startAnvil({
    port: options.port,
    chainId: CHAIN_ID,
    stateFile: null,
    genesisTime: null,
  });
  const db = openDatabase({
    url: options.databaseUrl,
    applicationName: "ahs-bench",
    maxConnections: 5,
    statementTimeoutMs: 60_000,
    connectTimeoutMs: 10_000,
    onIdleError: () => undefined,
  });
  const stop = new AbortController();
  try {
    await migrateDatabase(db);
    await anvil.rpc.request("evm_setIntervalMining", 1);
    const bench = await prepare(db, anvil.rpcUrl, options);
    const running = startServices(bench, stop.signal);
    const rows = await measure(bench);
    stop.abort();
    await running;
    return rows;
  } finally {
    stop.abort();
    await db.$client.end();
    await anvil.stop();
  }
}

type Bench = {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  readonly client: PublicClient;
  readonly oracle: Address;
};

async function prepare(db: Database, rpcUrl: string, options: PublishBenchOptions): Promise<Bench> {
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0, pollingInterval: 50 });
  const owner = mnemonicToAccount(MNEMONIC);
  const registry = "0x00000000000000000000000000000000000e8004";
  await client.request({ method: "anvil_setCode" as never, params: [registry, "0x00"] as never });
  const { address: oracle } = await deployOracle({
    walletClient: createWalletClient({ account: owner, transport: http(rpcUrl), pollingInterval: 50 }),
    publicClient: client,
    owner: owner.address,
    publisher: publisher().address,
    signers: [],
    identityRegistry: registry,
    requestFee: 0n,
  });
  return { db, databaseUrl: options.databaseUrl, rpcUrl, client, oracle };
}

function publisher() {
  return mnemonicToAccount(MNEMONIC, { addressIndex: 1 });
}

async function startServices(bench: Bench, signal: AbortSignal): Promise<void> {
  const registry = new Registry();
  const shared = { chainId: CHAIN_ID, logger: pino({ level: "silent" }), now: () => new Date() };
  const sender = runSender(
    {
      ...shared,
      account: publisher(),
      refuses: allowedCalls(["publisher"], {
        oracle: { address: bench.oracle, startBlock: 0 },
        verdictEvaluator: null,
        usdc: null,
        reputationRegistry: null,
        validationRegistry: null,
        maxRequestFeeWei: 0n,
      }),
      rpc: createSenderRpc({ url: bench.rpcUrl, timeoutMs: 10_000, retries: 2 }),
      databaseUrl: bench.databaseUrl,
      policy: senderPolicy({ finalityBlocks: 30 }),
      metrics: createSenderMetrics(registry),
    },
    signal,
  );
  const publishing = runPublisher(
    {
      ...shared,
      db: bench.db,
      oracle: bench.oracle,
      sender: publisher().address,
      policy,
      metrics: createPublishMetrics(registry),
      pollMs: 500,
    },
    signal,
  );
  const indexing = (async () => {
    while (!signal.aborted) {
      await replayOracle(bench.db.$client, { client: bench.client, oracle: bench.oracle, chainId: CHAIN_ID });
      await sleep(2_000);
    }
  })();
  await Promise.all([sender, publishing, indexing]);
}

async function measure(bench: Bench): Promise<BenchRow[]> {
  const started = performance.now();
  await publish(bench, { wallets: WALLETS, points: 80 });
  const seconds = (performance.now() - started) / 1000;
  const first = await gasPerWallet(bench, BATCH);
  await publish(bench, { wallets: BATCH, points: 70 });
  const update = await gasPerWallet(bench, BATCH);
  await publish(bench, { wallets: 1, points: 60 });
  const single = await gasPerWallet(bench, 1);
  return [
    atMost(6_700, { name: "publish: update in a batch of 100", value: update, unit: "gas/wallet" }),
    atMost(23_900, { name: "publish: first write in a batch of 100", value: first, unit: "gas/wallet" }),
    atMost(32_500, { name: "publish: single update", value: single, unit: "gas" }),
    atMost(60, { name: "publish: 10,000 wallets, stored to confirmed", value: seconds, unit: "s" }),
  ];
}

/** Stores scores of the newest block with their intents, and waits until the oracle's events show all of them. */
async function publish(
  bench: Bench,
  what: { readonly wallets: number; readonly points: number },
): Promise<void> {
  const block = await bench.client.getBlock();
  const rows = Array.from({ length: what.wallets }, (_, index) => newScore(index, what.points, block));
  for (let start = 0; start < rows.length; start += 1_000) {
    await bench.db.transaction(async (tx) => {
      const inserted = await tx
        .insert(score)
        .values(rows.slice(start, start + 1_000))
        .returning({ id: score.id });
      const scoreIds = inserted.map(({ id }) => id);
      await makeCurrent(tx, scoreIds, []);
      await proposeIntents(tx, { chainId: CHAIN_ID, scoreIds, policy, now: new Date() });
    });
  }
  const deadline = performance.now() + LIMIT_MS;
  while ((await countConfirmed(bench, Number(block.number))) < what.wallets) {
    if (performance.now() > deadline) throw new Error(`not published within ${LIMIT_MS / 1000} s`);
    await sleep(100);
  }
}

async function countConfirmed(bench: Bench, asOf: number): Promise<number> {
  const { rows } = await bench.db.$client.query<{ count: string }>(
    "select count(*) from ahs.publish_intent p join ahs.score s on s.id = p.score_id where p.state = 'confirmed' and s.as_of_block = $1",
    [asOf],
  );
  return Number(rows[0]?.count);
}

/** Gas of the newest transaction, shared among the wallets in it. */
async function gasPerWallet(bench: Bench, wallets: number): Promise<number> {
  const transactions = await bench.db.select().from(senderTransaction).orderBy(senderTransaction.id);
  const gasUsed = transactions.at(-1)?.gasUsed;
  if (gasUsed === undefined || gasUsed === null)
    throw new Error("the newest transaction has no gas on record");
  return Math.round(Number(gasUsed) / wallets);
}

function newScore(
  index: number,
  points: number,
  block: { number: bigint; hash: Hex; timestamp: bigint },
): NewScore {
  const wallet = slice(keccak256(numberToHex(index)), 0, 20);
  return {
    chainId: CHAIN_ID,
    wallet,
    asOfBlock: Number(block.number),
    asOfHash: block.hash,
    asOfTime: new Date(Number(block.timestamp) * 1000),
    modelVersion: "AHS-2026.0",
    ahsScore: points,
    d1Score: points,
    d2Score: points,
    grade: gradeOf(points),
    confidenceMicros: 812_345,
    confidenceLevel: "HIGH",
    sanctioned: false,
    sanctionsFlags: [],
    patterns: [],
    features: [],
    coverage: {
      fromBlock: 0,
      fromTimestamp: 0,
      toBlock: Number(block.number),
      complete: true,
      sources: ["index"],
    },
    inputsHash: `${wallet}-${block.number}`,
  };
}
