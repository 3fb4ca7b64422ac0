import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { Client } from "pg";
import { migrateDatabase, openDatabase } from "../service/db/database.ts";
import { atLeast, atMost, type BenchRow, median, shown } from "./bench-row.ts";
import { seedScoring } from "./scoring-population.ts";

const WALLETS = 4_000;
const CALLS = 100;
const ROUNDS = 5;
const WORKER = new URL("scoring-worker.ts", import.meta.url).pathname;

/** Scores and stores a population by one worker and by two, each in its process, in turns. */
export async function benchScoringWorkers({
  databaseUrl,
}: {
  /** An empty database. */
  readonly databaseUrl: string;
}): Promise<BenchRow[]> {
  const options = { url: databaseUrl, applicationName: "ahs-bench", statementTimeoutMs: 600_000 };
  const db = openDatabase({
    ...options,
    maxConnections: 1,
    connectTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
  await migrateDatabase(db);
  await db.$client.end();
  await seedScoring(databaseUrl, [{ prefix: "shared", wallets: WALLETS, calls: CALLS }]);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`create table chain_31337.oracle_score (wallet text primary key, present boolean, ahs_score integer,
    sanctioned boolean, insufficient boolean, safe_micro_usd numeric(78), as_of numeric(78), as_of_time numeric(78))`);
  const workers = await Promise.all([startWorker(databaseUrl), startWorker(databaseUrl)]);
  const rounds: { readonly one: number; readonly two: number }[] = [];
  let twice = 0;
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const one = await scoreBy(client, workers.slice(0, 1));
      const two = await scoreBy(client, workers);
      twice += one.twice + two.twice;
      rounds.push({ one: one.seconds, two: two.seconds });
    }
  } finally {
    for (const worker of workers) worker.kill();
    await client.end();
  }
  return [
    atLeast(1.6, {
      name: "scoring by two workers: wallets of 100 calls per second, of those that one worker scores and stores",
      value: median(rounds.map(({ one, two }) => one / two)),
      unit: "×",
    }),
    atMost(0, { name: "scoring by two workers: wallets that both scored", value: twice, unit: "wallets" }),
    shown({
      name: "scoring by one worker: wallets of 100 calls, scored and stored",
      value: WALLETS / median(rounds.map(({ one }) => one)),
      unit: "wallets/s",
    }),
    shown({ name: "scoring by workers: load average of the machine", value: loadavg()[0] ?? 0, unit: "" }),
  ];
}

async function startWorker(databaseUrl: string): Promise<ChildProcess> {
  const worker = fork(WORKER, [databaseUrl]);
  await once(worker, "message");
  return worker;
}

/** Seconds until the workers have scored all wallets, and how many of these they scored more than once. */
async function scoreBy(client: Client, workers: readonly ChildProcess[]) {
  await client.query("truncate ahs.score, ahs.current_score, ahs.publish_intent, ahs.input_file cascade");
  await client.query("checkpoint");
  const started = performance.now();
  const counts = await Promise.all(
    workers.map(async (worker) => {
      worker.send("score");
      const [count] = (await once(worker, "message")) as [number];
      return count;
    }),
  );
  const seconds = (performance.now() - started) / 1_000;
  const { rows } = await client.query("select count(*)::int as count from ahs.current_score");
  if (rows[0].count !== WALLETS) throw new Error(`${rows[0].count} of ${WALLETS} wallets were scored`);
  return { seconds, twice: counts.reduce((sum, count) => sum + count) - WALLETS };
}
