import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import autocannon from "autocannon";
import type { Address } from "viem";
import { freePort } from "../bin/supervisor/child-process.ts";
import { privateKeyOf, roleAccounts } from "../devnet/accounts.ts";
import { createApiKey } from "../service/access/api-keys.ts";
import { writeDeployment } from "../service/chain/deployments.ts";
import { type Database, openDatabase } from "../service/db/database.ts";
import { atLeast, atMost, type BenchRow, median } from "./bench-row.ts";
import { measureChecks } from "./read-checks.ts";
import { deploymentOf, seedScores } from "./read-population.ts";

export type ReadBenchOptions = {
  /** An empty database. */
  readonly databaseUrl: string;
};

const CONNECTIONS = 64;
const SECONDS = 3;
const ROUNDS = 3;
const RATE = 200;
const RATE_SECONDS = 8;
const MOST_BESIDE_UNLIMITED = 3;
const MAX_MB = 700;

/**
 * Loads `ahs serve` and a bare route that answers one row by its primary key in turns, with a key without a balance and with one
 * that is charged, and compares with the bars. The load comes from this machine as well.
 */
export async function benchReadApi({ databaseUrl }: ReadBenchOptions): Promise<BenchRow[]> {
  const bench = openBench(databaseUrl);
  const { db, folder, children } = bench;
  try {
    const wallets = await seedScores(db, databaseUrl);
    const keys = { unlimited: await fastKey(db, null), metered: await fastKey(db, 1_000_000_000) };
    const bare = await startBare(databaseUrl, children);
    const serve = await startServe({ databaseUrl, folder, settings: {} }, children);
    const load = { bare, serve, keys, wallets };
    const ratios = await measureRatios(load);
    const rows = [...ratios, ...(await measureLatency(load)), memoryRow(children.at(-1)?.pid)];
    return [...rows, ...(await measureChecks(db, wallets[0] ?? "0x"))];
  } finally {
    await stopped(bench);
  }
}

/** Resources of a bench of a server while it runs. */
type OpenBench = { readonly db: Database; readonly folder: string; readonly children: ChildProcess[] };

/** A database, a folder and a list of processes, to be given to `stopped` in the end. */
export function openBench(databaseUrl: string): OpenBench {
  const db = openDatabase({
    url: databaseUrl,
    applicationName: "ahs-bench",
    maxConnections: 20,
    statementTimeoutMs: 600_000,
    connectTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
  return { db, folder: mkdtempSync(join(tmpdir(), "ahs-bench-read-")), children: [] };
}

/** Ends the processes of a bench, its connections and its folder. */
export async function stopped({ db, folder, children }: OpenBench): Promise<void> {
  for (const child of children) await ended(child);
  await db.$client.end();
  rmSync(folder, { recursive: true, force: true });
}

type Load = {
  readonly bare: string;
  readonly serve: string;
  readonly keys: { readonly unlimited: string; readonly metered: string };
  readonly wallets: readonly Address[];
};

type Target = { readonly url: string; readonly path: string; readonly key: string };

const PATHS = ["/risk", "/ahs/route"] as const;
const BARS = { unlimited: 0.5, metered: 0.2 } as const;

/** Requests per second of each path and key as a share of the bare route's, measured beside it. */
async function measureRatios({ bare, serve, keys, wallets }: Load): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  const plain = { url: bare, path: "/bare", key: "" };
  await perSecond(plain, wallets);
  for (const path of PATHS) {
    for (const kind of ["unlimited", "metered"] as const) {
      const target = { url: serve, path, key: keys[kind] };
      await perSecond(target, wallets);
      const ratios: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        ratios.push((await perSecond(target, wallets)) / (await perSecond(plain, wallets)));
      const name = `read: GET ${path}/{address}, ${kind} key, beside a bare SELECT`;
      rows.push(atLeast(BARS[kind], { name, value: median(ratios), unit: "×" }));
    }
  }
  return rows;
}

/** How much longer the slowest requests of a key that is charged take than those of one that is not, in alternated rounds. */
async function measureLatency({ serve, keys, wallets }: Load): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const path of PATHS) {
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const metered = p99(await paced({ url: serve, path, key: keys.metered }, wallets));
      ratios.push(metered / p99(await paced({ url: serve, path, key: keys.unlimited }, wallets)));
    }
    const name = `read: GET ${path}/{address}, p99 at ${RATE} requests/s, metered key beside an unlimited one`;
    rows.push(atMost(MOST_BESIDE_UNLIMITED, { name, value: median(ratios), unit: "×" }));
  }
  return rows;
}

function p99(times: readonly number[]): number {
  return times.toSorted((x, y) => x - y)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

/** Milliseconds of requests sent evenly spaced, each counted from when it was due, however late the others are. */
async function paced({ url, path, key }: Target, wallets: readonly Address[]): Promise<number[]> {
  const started = performance.now();
  const asked = Array.from({ length: RATE * RATE_SECONDS }, async (_, place) => {
    const due = started + (place * 1_000) / RATE;
    await sleep(due - performance.now());
    const answer = await fetch(`${url}${path}/${wallets[place % wallets.length]}`, {
      headers: { "x-api-key": key },
    });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} under load`);
    return performance.now() - due;
  });
  return Promise.all(asked);
}

async function perSecond(target: Target, wallets: readonly Address[]): Promise<number> {
  return (await run(target, wallets, { connections: CONNECTIONS, duration: SECONDS })).requests.average;
}

async function run(
  { url, path, key }: Target,
  wallets: readonly Address[],
  how: { readonly connections: number; readonly duration: number },
) {
  const result = await autocannon({
    url,
    ...how,
    headers: key === "" ? {} : { "x-api-key": key },
    requests: wallets.map((wallet) => ({ method: "GET", path: `${path}/${wallet}` })),
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${path}: ${result.non2xx} refusals and ${result.errors} errors under load`);
  }
  return result;
}

function memoryRow(pid: number | undefined): BenchRow {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return atMost(MAX_MB, {
    name: "read: memory of serve after it",
    value: Number(kilobytes) / 1_024,
    unit: "MB",
  });
}

/** A key that no rate holds back. */
async function fastKey(db: Database, balanceUnits: number | null): Promise<string> {
  const wanted = { name: "bench", partner: false, balanceUnits, expiresAt: null };
  const { key, secret } = await createApiKey(db, wanted, { randomBytes, randomUuid: randomUUID });
  await db.$client.query("update ahs.api_key set rate_per_minute = 100000000 where id = $1", [key.id]);
  return secret;
}

async function startBare(databaseUrl: string, children: ChildProcess[]): Promise<string> {
  const port = await freePort();
  const env = { ...process.env, DATABASE_URL: databaseUrl, PORT: String(port) };
  const script = new URL("./bare-route.ts", import.meta.url).pathname;
  children.push(spawn(process.execPath, [script], { stdio: ["ignore", "ignore", "inherit"], env }));
  return listening(port, "/");
}

/** Starts `ahs serve`, with further settings; answers its URL. */
export async function startServe(
  {
    databaseUrl,
    folder,
    settings,
  }: {
    readonly databaseUrl: string;
    readonly folder: string;
    readonly settings: Readonly<Record<string, string>>;
  },
  children: ChildProcess[],
): Promise<string> {
  const port = await freePort();
  const deploymentFile = join(folder, "deployment.json");
  writeDeployment(deploymentFile, await deploymentOf(databaseUrl));
  const { signer } = roleAccounts();
  const env = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    AHS_DEPLOYMENT: deploymentFile,
    PORT: String(port),
    SIGNER_PRIVATE_KEY: privateKeyOf(signer),
    IP_RATE_PER_MINUTE: "10000000",
    MAX_INDEX_AGE_SECONDS: "86400",
    HISTORY_SOURCE: "none",
    LOG_LEVEL: "warn",
    ...settings,
  };
  const script = new URL("../bin/ahs.ts", import.meta.url).pathname;
  children.push(spawn(process.execPath, [script, "serve"], { stdio: ["ignore", "inherit", "inherit"], env }));
  return listening(port, "/livez");
}

async function listening(port: number, path: string): Promise<string> {
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (await fetch(url + path).catch(() => null)) return url;
    await sleep(100);
  }
  throw new Error(`nothing listens at ${url}`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGINT");
  await exit;
}
