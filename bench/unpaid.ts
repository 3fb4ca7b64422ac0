import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import type { Database } from "../service/db/database.ts";
import { startCountingNode } from "../test/support/counting-node.ts";
import { atMost, type BenchRow } from "./bench-row.ts";
import { openBench, startServe, stopped } from "./read-api.ts";
import { seedScores } from "./read-population.ts";

/** An operation of the manifest with the request that it answers. */
type Priced = {
  readonly method: string;
  readonly url: string;
  readonly url_template: string;
  readonly body: Readonly<Record<string, unknown>> | null;
};

const CHAIN_ID = 31_337;
const CALLS = 5_000;
const FAILURES = 200;
const REQUESTS = 200;
const WARM_UP = 50;
const MOST_MS = 5;
/** Linux counts a process's time in these. */
const MS_PER_TICK = 10;
/** multicall(bytes[]) whose elements all point to the same bytes, as long as the recovery reads calldata. */
const ELEMENTS = 508;
const PAY_TO = "0x976EA74026E726554dB657fA54763abd0C3a0aa9";

/**
 * The cost of one request without a credential to `ahs serve`, for every priced endpoint that its manifest lists: processor time of the
 * whole process, which is no less than the time of its event loop, and node calls. The wallet has thousands of calls, and failures
 * with calldata made to be slow to read.
 */
export async function benchUnpaid({ databaseUrl }: { readonly databaseUrl: string }): Promise<BenchRow[]> {
  const bench = openBench(databaseUrl);
  const node = await startCountingNode();
  try {
    const [wallet] = await seedScores(bench.db, databaseUrl, { prefix: "unpaid", wallets: 1, calls: CALLS });
    if (wallet === undefined) throw new Error("no wallet was seeded");
    await insertFailures(bench.db, wallet);
    await insertAgent(bench.db, wallet);
    const specId = await insertSpec(bench.db);
    const settings = { RPC_URL: node.url, X402_PAY_TO: PAY_TO, X402_FACILITATOR_ADDRESS: PAY_TO };
    const served = { databaseUrl, folder: bench.folder, settings };
    const url = await startServe(served, bench.children);
    const pid = bench.children.at(-1)?.pid;
    const rows: BenchRow[] = [];
    for (const priced of await readManifest(url)) {
      const body =
        priced.body !== null && "spec_id" in priced.body ? { ...priced.body, spec_id: specId } : priced.body;
      const { ms, calls } = await cost({ ...priced, body }, { pid, calls: node.calls });
      const name = `unpaid: ${priced.method.toUpperCase()} ${new URL(priced.url_template).pathname}`;
      rows.push(atMost(MOST_MS, { name: `${decodeURI(name)}, processor time`, value: ms, unit: "ms" }));
      rows.push(atMost(0, { name: `${decodeURI(name)}, node calls`, value: calls, unit: "calls" }));
    }
    return rows;
  } finally {
    node.close();
    await stopped(bench);
  }
}

async function cost(
  priced: Priced,
  { pid, calls }: { readonly pid: number | undefined; readonly calls: readonly string[] },
) {
  for (let request = 0; request < WARM_UP; request += 1) await askUnpaid(priced);
  const before = { ms: processorMs(pid), calls: calls.length };
  for (let request = 0; request < REQUESTS; request += 1) await askUnpaid(priced);
  return {
    ms: (processorMs(pid) - before.ms) / REQUESTS,
    calls: (calls.length - before.calls) / REQUESTS,
  };
}

async function askUnpaid({ method, url, body }: Priced): Promise<void> {
  const sent = body === null ? {} : { body: JSON.stringify(body) };
  const response = await fetch(url, { method, headers: { "content-type": "application/json" }, ...sent });
  await response.arrayBuffer();
  if (response.status !== 402) throw new Error(`${method} ${url}: expected 402, got ${response.status}`);
}

/** Once the node has answered the token's domain, which the server asks for when it starts. */
async function readManifest(origin: string): Promise<readonly Priced[]> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const response = await fetch(`${origin}/.well-known/x402`);
    if (response.status === 200) return ((await response.json()) as { resources: Priced[] }).resources;
    await response.arrayBuffer();
    await sleep(100);
  }
  throw new Error(`${origin}/.well-known/x402 was expected to answer within 10 s`);
}

/** User and system time of a process so far: fields 14 and 15 of its stat, counted behind its name. */
function processorMs(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/** The agent that the manifest names in its examples. */
async function insertAgent(db: Database, wallet: Address): Promise<void> {
  await db.$client.query(
    `create table chain_${CHAIN_ID}.agent (agent_id numeric(78) primary key, wallet text);
     insert into chain_${CHAIN_ID}.agent values (1, '${wallet}')`,
  );
}

async function insertFailures(db: Database, wallet: Address): Promise<void> {
  const word = (value: number) => value.toString(16).padStart(64, "0");
  const input = `0xac9650d8${word(32)}${word(ELEMENTS)}${word(ELEMENTS * 32).repeat(ELEMENTS)}${word(0)}`;
  await db.$client.query(
    `insert into chain_${CHAIN_ID}.transaction
     select '0x' || lpad(to_hex(n), 64, 'f'), newest.number, n, newest.timestamp, $1, '0x' || repeat('d1', 20), n, 0, $2 || lpad(to_hex(n), 64, '0'),
       '0xac9650d8', 900000, 800000, 1000000000, 1000000000, false, null, true
     from generate_series(1, $3::int) n, (select number, timestamp from chain_${CHAIN_ID}.block order by number desc limit 1) newest`,
    [wallet, input, FAILURES],
  );
}

async function insertSpec(db: Database): Promise<string> {
  const id = randomUUID();
  await db.$client.query(
    `insert into ahs.job_spec (id, client_addr, spec_text, domain, spec_hash, created_at)
     values ($1, $2, repeat('word ', 40000), 'default', $3, now())`,
    [id, PAY_TO.toLowerCase(), `0x${"11".repeat(32)}`],
  );
  return id;
}
