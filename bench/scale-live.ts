import { Client } from "pg";
import { startNodeServer } from "../devnet/history-servers/node-server.ts";
import { migrateDatabase } from "../service/db/database.ts";
import { atMost, type BenchRow, shown } from "./bench-row.ts";
import { createScaleChain, isSampled, type ScaleChain } from "./scale-chain.ts";
import { deploymentOf, indexBlocks, openBenchDatabase, seedIndex } from "./scale-population.ts";
import { answerOf, startWorker, usageOf } from "./scale-process.ts";

const SEED = 16;
const [FEW, MANY] = [1_000, 100_000];
const LAST_BLOCK = 40_000;
/** Final blocks that come at once, and how often; the first are not measured. */
const [STEP, STEPS, UNMEASURED] = [5, 12, 2];
const HEAD = LAST_BLOCK - STEP * (STEPS + UNMEASURED);

/** Enriches the same blocks for few and for many followed wallets, as they become final. */
export async function benchLive({
  createDatabase,
}: {
  readonly createDatabase: () => Promise<string>;
}): Promise<BenchRow[]> {
  const isFull = (block: number) => block > HEAD || isSampled(block);
  const chain = createScaleChain({
    seed: SEED,
    wallets: MANY,
    calls: 3 * MANY,
    busiest: 60_000,
    lastBlock: LAST_BLOCK,
    isFull,
  });
  const few = await follow(chain, { wallets: FEW, databaseUrl: await createDatabase() });
  const many = await follow(chain, { wallets: MANY, databaseUrl: await createDatabase() });
  return [
    shown({ name: `live: requests for 1,000 blocks, ${FEW} wallets`, value: few.requests, unit: "requests" }),
    shown({
      name: `live: requests for 1,000 blocks, ${MANY} wallets`,
      value: many.requests,
      unit: "requests",
    }),
    atMost(1.1, {
      name: `live: requests of ${MANY} wallets over those of ${FEW}`,
      value: many.requests / few.requests,
      unit: "×",
    }),
    shown({
      name: `live: ${STEP} final blocks stored, median, ${FEW} wallets`,
      value: few.medianMs,
      unit: "ms",
    }),
    shown({
      name: `live: ${STEP} final blocks stored, median, ${MANY} wallets`,
      value: many.medianMs,
      unit: "ms",
    }),
    shown({ name: `live: lag of ${MANY} wallets, the longest`, value: many.longestMs / 1_000, unit: "s" }),
    atMost(1_000, { name: `live: peak memory, ${MANY} wallets`, value: many.megabytes, unit: "MB" }),
  ];
}

async function follow(
  chain: ScaleChain,
  { wallets, databaseUrl }: { readonly wallets: number; readonly databaseUrl: string },
) {
  const db = openBenchDatabase(databaseUrl);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const node = await startNodeServer({ chain });
  const urls = { databaseUrl, nodeUrl: node.url, portalUrl: node.url };
  try {
    await migrateDatabase(db);
    await seedIndex(databaseUrl, { chain, wallets, block: HEAD, warms: false });
    // Else the first ranges ask for the code of every wallet once.
    await client.query(
      "insert into ahs.wallet_delegation (chain_id, wallet, block, delegate) select chain_id, wallet, 1, null from ahs.enrich_wallet",
    );
    const worker = startWorker({ kind: "live", ...urls, deployment: deploymentOf() });
    const times: number[] = [];
    let requests = 0;
    for (let step = -UNMEASURED; step < STEPS; step += 1) {
      const from = HEAD + 1 + (step + UNMEASURED) * STEP;
      await indexBlocks(client, chain, { from, to: from + STEP - 1 });
      const before = node.requests();
      worker.send("go");
      const { ms } = await answerOf(worker);
      if (step < 0) continue;
      times.push(ms);
      requests += node.requests() - before;
    }
    const { megabytes } = usageOf(worker);
    worker.kill("SIGKILL");
    await requireAt(client, LAST_BLOCK);
    const sorted = times.toSorted((a, b) => a - b);
    return {
      requests: (requests / (STEP * STEPS)) * 1_000,
      medianMs: sorted[Math.floor(STEPS / 2)] ?? Number.NaN,
      longestMs: sorted.at(-1) ?? Number.NaN,
      megabytes,
    };
  } finally {
    await node.close();
    await client.end();
    await db.$client.end();
  }
}

async function requireAt(client: Client, block: number): Promise<void> {
  const { rows } = await client.query("select block::int as block from ahs.enrich_cursor");
  if (rows[0]?.block !== block)
    throw new Error(`expected blocks enriched up to ${block}, got ${rows[0]?.block}`);
}
