import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { startNodeServer } from "../devnet/history-servers/node-server.ts";
import { startSqdPortal } from "../devnet/history-servers/sqd-portal.ts";
import { migrateDatabase } from "../service/db/database.ts";
import { atMost, type BenchRow, shown } from "./bench-row.ts";
import { createScaleChain, isSampled, type ScaleChain } from "./scale-chain.ts";
import { benchLive } from "./scale-live.ts";
import { CHAIN_ID, deploymentOf, openBenchDatabase, seedIndex } from "./scale-population.ts";
import { runWorker, startWorker, usageOf } from "./scale-process.ts";
import type { ScaleTask } from "./scale-worker.ts";

export type ScaleBenchOptions = {
  readonly createDatabase: () => Promise<string>;
  /** Wallets that are warmed and scored. */
  readonly wallets: number;
  /** Calls of the busiest one at least; null for more than are read of a wallet. */
  readonly busiest: number | null;
};

const SEED = 15;
/** Calls of the busiest wallet, if the population has room for it: more than are read of one. */
const BUSIEST = 60_000;
/** 180 days and an hour. */
const HEAD = 7_777_800;
/** First block of the scoring window. */
const WINDOW_START = 1_800;
/** An answer of the portal holds no more of either. */
const ANSWER = { blocksPerAnswer: 1_000_000, bytesPerAnswer: 33_554_432 };
/** Requests per second that the source allows itself at the public portal. */
const PUBLIC_RATE = 1.8;
/** Samples of 180 days: each is a request, however many wallets there are. */
const SAMPLES = 720;
/** The size that the bars are of. */
const FULL = { wallets: 27_000, seconds: 3_600, requests: 1_500, scoringSeconds: 60 };
/** Part of the full bars at least: samples and prices cost the same for few wallets. */
const LEAST_PART = 0.1;
/** Megabytes of a process at 100,000 wallets, and with a wallet of millions of calls. */
const MOST_MEGABYTES = { many: 1_000, busy: 500 };
/** Most answers of the longest slice. */
const SLICE_ANSWERS = 6;
const POLL_MS = 50;
const KILL_MS = 700;

/**
 * Warms and scores a population like that of Base, and enriches new blocks for few and many wallets. The chain is made block by block as
 * it is asked for, and served by a loopback portal and node in this process; the service has a process of its own.
 */
export async function benchScale(options: ScaleBenchOptions): Promise<BenchRow[]> {
  return [...(await benchPast(options)), ...(await benchLive(options))];
}

/** Calls of a population: 74 for each wallet, and 340 for each of 100,000. */
function callsOf(wallets: number): number {
  return wallets >= 100_000 ? wallets * 340 : wallets * 74;
}

async function benchPast({ createDatabase, wallets, busiest }: ScaleBenchOptions): Promise<BenchRow[]> {
  const chain = createScaleChain({
    seed: SEED,
    wallets,
    calls: callsOf(wallets) + (busiest ?? 0),
    busiest: busiest ?? Math.min(BUSIEST, callsOf(wallets) / 3),
    lastBlock: HEAD,
    isFull: isSampled,
  });
  const databaseUrl = await createDatabase();
  const db = openBenchDatabase(databaseUrl);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const asked = countQueries(chain);
  const portal = await startSqdPortal({ chain: asked.chain, ...ANSWER });
  const node = await startNodeServer({ chain });
  const task = { databaseUrl, nodeUrl: node.url, portalUrl: portal.url, deployment: deploymentOf() };
  try {
    await migrateDatabase(db);
    await seedIndex(databaseUrl, { chain, wallets, block: HEAD, warms: true });
    const empty = await readBytes(client);
    const warmed = await warmWithKill(client, task, wallets);
    const requests = portal.requests();
    const nodeRequests = node.requests();
    const stored = await compareStored(client, chain);
    const bytes = await readBytes(client);
    await client.query("vacuum (analyze)");
    const scoring = await runWorker({ kind: "score", ...task });
    const part = Math.max(LEAST_PART, wallets / FULL.wallets);
    const megabytes = busiest === null ? MOST_MEGABYTES.many : MOST_MEGABYTES.busy;
    const named = (text: string) => `scale: ${text}`;
    return [
      shown({ name: named("wallets"), value: wallets, unit: "wallets" }),
      shown({ name: named("calls kept of them"), value: stored.calls, unit: "calls" }),
      atMost(FULL.seconds * part, {
        name: named(`warmed, bar ${FULL.seconds} s for ${FULL.wallets}`),
        value: warmed.seconds,
        unit: "s",
      }),
      shown({
        name: named("processor time of that in the service's process"),
        value: warmed.cpuSeconds,
        unit: "s",
      }),
      atMost(FULL.seconds * Math.max(1, part), {
        name: named("the same at the pace of the public portal, at least"),
        value: Math.max(warmed.seconds, requests / PUBLIC_RATE),
        unit: "s",
      }),
      atMost(SAMPLES + (FULL.requests - SAMPLES) * (groupsOf(part * FULL.wallets) / groupsOf(FULL.wallets)), {
        name: named(`requests to the portal, bar ${FULL.requests} for ${FULL.wallets}`),
        value: requests,
        unit: "requests",
      }),
      shown({ name: named("requests to the node"), value: nodeRequests, unit: "requests" }),
      atMost(600, {
        name: named("until the first wallets have kept history"),
        value: warmed.firstSeconds,
        unit: "s",
      }),
      atMost(SLICE_ANSWERS, {
        name: named("queries asked again after kill -9"),
        value: asked.repeated(),
        unit: "queries",
      }),
      atMost(0, {
        name: named("wallets with other calls than the chain's after it"),
        value: stored.differing,
        unit: "wallets",
      }),
      atMost(megabytes, { name: named("peak memory, warming"), value: warmed.megabytes, unit: "MB" }),
      shown({
        name: named("database, for each call"),
        value: (bytes.rest - empty.rest) / stored.calls,
        unit: "bytes",
      }),
      shown({
        name: named("database, users seen in sampled blocks, however many wallets"),
        value: (bytes.sampled - empty.sampled) / 1e6,
        unit: "MB",
      }),
      shown({
        name: named("calls of the busiest wallet on the chain"),
        value: chain.schedule.callsBy(0, HEAD),
        unit: "calls",
      }),
      shown({ name: named("calls of it that are kept"), value: stored.busiest, unit: "calls" }),
      atMost(0, {
        name: named("wallets with calls left out whose coverage is complete"),
        value: stored.boasting,
        unit: "wallets",
      }),
      atMost(FULL.scoringSeconds * part, {
        name: named(`all scored, not stored, bar ${FULL.scoringSeconds} s for ${FULL.wallets}`),
        value: scoring.seconds,
        unit: "s",
      }),
      atMost(megabytes, { name: named("peak memory, scoring"), value: scoring.megabytes, unit: "MB" }),
    ];
  } finally {
    await portal.close();
    await node.close();
    await client.end();
    await db.$client.end();
  }
}

/** Wallets are read in groups of 500. */
function groupsOf(wallets: number): number {
  return Math.ceil(wallets / 500);
}

/** Counts queries for the same wallets from the same block. */
function countQueries(chain: ScaleChain) {
  const seen = new Set<string>();
  let repeated = 0;
  return {
    repeated: () => repeated,
    chain: {
      ...chain,
      naming: ((accounts, range) => {
        const [first] = accounts;
        const key = `${first} ${accounts.size} ${range.from}`;
        if (seen.has(key)) repeated += 1;
        seen.add(key);
        return chain.naming(accounts, range);
      }) satisfies ScaleChain["naming"],
    },
  };
}

/** Warms all wallets in two processes: the first is killed once half of them are done. */
async function warmWithKill(client: Client, task: Omit<ScaleTask, "kind">, wallets: number) {
  const started = performance.now();
  const since = () => (performance.now() - started) / 1_000;
  const killed = startWorker({ kind: "warm", ...task });
  let firstSeconds: number | null = null;
  for (;;) {
    const { stored, open } = await readProgress(client);
    if (stored > 0) firstSeconds ??= since();
    if (open <= wallets / 2) break;
    if (killed.exitCode !== null || killed.signalCode !== null)
      throw new Error(`the service's process ended with ${killed.exitCode}`);
    await sleep(POLL_MS);
  }
  // Within a slice.
  await sleep(KILL_MS);
  const before = usageOf(killed);
  killed.kill("SIGKILL");
  const after = await runWorker({ kind: "warm", ...task });
  const { open } = await readProgress(client);
  if (open > 0) throw new Error(`expected no open wallet, got ${open}`);
  return {
    seconds: since(),
    firstSeconds: firstSeconds ?? since(),
    megabytes: Math.max(before.megabytes, after.megabytes),
    cpuSeconds: before.cpuSeconds + after.cpuSeconds,
  };
}

async function readProgress(client: Client): Promise<{ readonly stored: number; readonly open: number }> {
  const { rows } = await client.query<{ stored: number; open: number }>(
    `select (select count(*)::int from ahs.stored_history) as stored,
       (select count(*)::int from ahs.enrich_wallet where warm_open) as open`,
  );
  return rows[0] ?? { stored: 0, open: 0 };
}

/** Compares each wallet's kept calls with those that the chain has in the blocks that coverage names. */
async function compareStored(client: Client, chain: ScaleChain) {
  const { rows } = await client.query<{
    wallet: `0x${string}`;
    from: number;
    complete: boolean;
    calls: number;
  }>(
    `select k.wallet, k.from_block::int as from, k.complete, o.calls::int as calls
     from ahs.stored_history k
     cross join lateral (
       select count(*) as calls from ahs.own_call o
       where o.chain_id = k.chain_id and o.wallet = k.wallet and o.block >= k.from_block
     ) o
     where k.chain_id = ${CHAIN_ID}`,
  );
  const stored = new Map(rows.map((row) => [row.wallet, row]));
  const { schedule } = chain;
  let [calls, differing, boasting] = [0, 0, 0];
  for (const [id, wallet] of chain.wallets.entries()) {
    const row = stored.get(wallet);
    const callsSince = (block: number) => schedule.callsBy(id, HEAD) - schedule.callsBy(id, block - 1);
    calls += row?.calls ?? 0;
    if (row === undefined || row.calls !== callsSince(row.from)) differing += 1;
    if (row?.complete === true && row.calls < callsSince(WINDOW_START)) boasting += 1;
  }
  return { calls, differing, boasting, busiest: stored.get(chain.wallets[0] ?? "0x")?.calls ?? 0 };
}

/** Bytes of our tables with their indexes: users of sampled blocks, and all others. */
async function readBytes(client: Client): Promise<{ readonly rest: number; readonly sampled: number }> {
  const { rows } = await client.query<{ rest: number; sampled: number }>(
    `select coalesce(sum(size) filter (where relname <> 'sampled_contact'), 0)::float8 as rest,
       coalesce(sum(size) filter (where relname = 'sampled_contact'), 0)::float8 as sampled
     from (select relname, pg_total_relation_size(oid) as size from pg_class
           where relnamespace = 'ahs'::regnamespace and relkind = 'r') as tables`,
  );
  return rows[0] ?? { rest: 0, sampled: 0 };
}
