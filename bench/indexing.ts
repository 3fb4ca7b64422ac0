import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { numberToHex } from "viem";
import { freePort } from "../bin/supervisor/child-process.ts";
import { type Devnet, startDevnet } from "../devnet/devnet.ts";
import { jsonRpc, type RpcCall } from "../devnet/json-rpc.ts";
import { writeDeployment } from "../service/chain/deployments.ts";
import { atLeast, atMost, type BenchRow, shown } from "./bench-row.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const APP = { real: ROOT, noop: join(ROOT, "bench/noop-index") } as const;
const POLL_MS = 20;
const LAG_POLL_MS = 4;
const LAG_BLOCKS = 200;
const CALLS_PER_BLOCK = 100;
const BLOCK_EVERY_MS = 500;
/** Alternated runs of each app, of which the median counts: one alone would measure the machine's mood. */
const RUNS = 3;
const APPS = ["noop", "real"] as const;
const QUIET_LOGGER = { info: () => undefined, warn: () => undefined };

export type IndexingBenchOptions = {
  /** Makes an empty database and answers its URL. */
  readonly createDatabase: () => Promise<string>;
};

/**
 * Indexes the population of 200 wallets with the real app and with one that does nothing for the same events, each with
 * nothing cached (cold) and with the chain's data cached (warm), then measures how soon a mined block can be queried.
 */
export async function benchIndexing(options: IndexingBenchOptions): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "ahs-bench-"));
  const devnet = await startDevnet({
    port: await freePort(),
    dataDir: null,
    seed: "bench",
    wallets: 200,
    days: 90,
    now: () => Math.floor(Date.now() / 1000),
    onProgress: () => undefined,
    logger: QUIET_LOGGER,
  });
  try {
    const deploymentFile = join(folder, "deployment.json");
    writeDeployment(deploymentFile, devnet.deployment);
    const world = { devnet, deploymentFile };
    const cold = await compare(RUNS, async (app) =>
      measureBackfill({ ...world, app, database: await options.createDatabase(), run: "cold" }),
    );
    const databases = { noop: await options.createDatabase(), real: await options.createDatabase() };
    for (const app of APPS) await measureBackfill({ ...world, app, database: databases[app], run: "fill" });
    const warm = await compare(RUNS, (app, run) =>
      measureBackfill({ ...world, app, database: databases[app], run: `warm_${run}` }),
    );
    // On with what was indexed first, so that it starts at the head.
    const lags = await measureHeadLag({ ...world, app: "real", database: databases.real, run: "fill" });
    return [
      atLeast(0.85, { name: "indexing: cold, of a no-op app's speed", value: cold.speed, unit: "×" }),
      atLeast(0.35, { name: "indexing: warm, of a no-op app's speed", value: warm.speed, unit: "×" }),
      atMost(1.2, { name: "indexing: peak memory, cold, of a no-op app's", value: cold.memory, unit: "×" }),
      shown({ name: "indexing: cold", value: cold.real.seconds, unit: "s" }),
      shown({ name: "indexing: warm", value: warm.real.seconds, unit: "s" }),
      shown({ name: "indexing: peak memory, cold", value: cold.real.peakMb, unit: "MB" }),
      atMost(1_000, {
        name: "head lag: mined to queryable, p99, 100 calls a block",
        value: quantile(lags, 0.99),
        unit: "ms",
      }),
      shown({ name: "head lag: median", value: quantile(lags, 0.5), unit: "ms" }),
    ];
  } finally {
    await devnet.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Run = {
  readonly devnet: Devnet;
  readonly deploymentFile: string;
  readonly app: keyof typeof APP;
  readonly database: string;
  /** Names the schema that is written: each run its own. */
  readonly run: string;
};

type Backfill = { readonly seconds: number; readonly peakMb: number };

/** Medians of both apps, run in turn. */
async function compare(
  runs: number,
  measure: (app: keyof typeof APP, run: number) => Promise<Backfill>,
): Promise<{ noop: Backfill; real: Backfill; speed: number; memory: number }> {
  const measured = { noop: [] as Backfill[], real: [] as Backfill[] };
  for (let run = 1; run <= runs; run += 1) {
    for (const app of APPS) measured[app].push(await measure(app, run));
  }
  const [noop, real] = [medianOf(measured.noop), medianOf(measured.real)];
  return { noop, real, speed: noop.seconds / real.seconds, memory: real.peakMb / noop.peakMb };
}

function medianOf(runs: readonly Backfill[]): Backfill {
  const seconds = runs.map((run) => run.seconds);
  const peaks = runs.map((run) => run.peakMb);
  return { seconds: quantile(seconds, 0.5), peakMb: quantile(peaks, 0.5) };
}

async function measureBackfill(run: Run): Promise<Backfill> {
  const index = await startIndex(run);
  await answers(`${index.url}/health`, index.child);
  const from = performance.now();
  await answers(`${index.url}/ready`, index.child);
  const seconds = (performance.now() - from) / 1000;
  const peakMb = peakMemoryMb(index.child);
  await index.stop();
  return { seconds, peakMb };
}

/** Milliseconds from the node's answer that a block is mined to the block's row in the view that readers use. */
async function measureHeadLag(run: Run): Promise<number[]> {
  const index = await startIndex(run);
  const client = new Client({ connectionString: run.database });
  await client.connect();
  await answers(`${index.url}/ready`, index.child);
  const rpc = jsonRpc(run.devnet.rpcUrl);
  await rpc.request("evm_setAutomine", false);
  const senders = Object.values(run.devnet.samples);
  for (const sender of senders) await rpc.request("anvil_impersonateAccount", sender);
  const lags: number[] = [];
  for (let block = 0; block < LAG_BLOCKS; block += 1) {
    const startedAt = performance.now();
    await rpc.batch(Array.from({ length: CALLS_PER_BLOCK }, (_, call) => transfer(senders, call)));
    await rpc.request("evm_mine");
    const minedAt = performance.now();
    const number = Number(await rpc.request("eth_blockNumber"));
    while (
      (await client.query('select 1 from chain_31337."block" where number = $1', [number])).rowCount === 0
    ) {
      await sleep(LAG_POLL_MS);
    }
    lags.push(performance.now() - minedAt);
    await sleep(Math.max(0, BLOCK_EVERY_MS - (performance.now() - startedAt)));
  }
  await client.end();
  await index.stop();
  return lags;
}

/** Its fees are far above whatever the base fee rises to in a hundred blocks. */
function transfer(senders: readonly string[], call: number): RpcCall {
  const from = senders[call % senders.length];
  const to = senders[(call + 1) % senders.length];
  const fees = { maxFeePerGas: numberToHex(10n ** 12n), maxPriorityFeePerGas: numberToHex(10n ** 8n) };
  return { method: "eth_sendTransaction", params: [{ from, to, value: "0x1", gas: "0x5208", ...fees }] };
}

async function startIndex({ devnet, deploymentFile, app, database, run }: Run) {
  const port = await freePort();
  const schema = `bench_${app}_${run}`;
  const args = [
    ...["--root", APP[app], "--schema", schema, "--views", `chain_${devnet.deployment.chainId}`],
    ...["--port", String(port), "--deployment", deploymentFile],
    ...["--rpc", devnet.rpcUrl, "--database", database],
  ];
  const child = spawn(process.execPath, [join(ROOT, "bench/ponder-process.ts"), ...args], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const stop = async () => {
    const ended = once(child, "exit");
    child.kill("SIGINT");
    await ended;
  };
  return { child, url: `http://127.0.0.1:${port}`, stop };
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null)
      throw new Error(`the indexer ended with ${child.exitCode} before ${url} answered`);
    const response = await fetch(url).catch(() => null);
    if (response?.status === 200) return;
    await sleep(POLL_MS);
  }
}

/** Most resident memory of a running process so far. */
export function peakMemoryMb(child: ChildProcess): number {
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
  if (kilobytes === undefined) throw new Error("the system does not tell the peak memory of a process");
  return Number(kilobytes) / 1024;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  if (value === undefined) throw new Error("no values");
  return value;
}
