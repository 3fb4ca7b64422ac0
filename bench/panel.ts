import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { Registry } from "prom-client";
import { parseConfig } from "../bin/config.ts";
import { panelFromConfig } from "../bin/panel-from-config.ts";
import { freePort } from "../bin/supervisor/child-process.ts";
import { type Database, migrateDatabase, openDatabase } from "../service/db/database.ts";
import { createVerdictMetrics } from "../service/verification/metrics.ts";
import { tokensOfCase } from "../service/verification/panel/check-context.ts";
import { runPanel } from "../service/verification/panel/run-panel.ts";
import { type RunOneDeps, runOne } from "../service/verification/verdicts/run-one.ts";
import { leaseVerdicts } from "../service/verification/verdicts/verdict-queue.sql.ts";
import { atLeast, atMost, type BenchRow, shown } from "./bench-row.ts";
import { queueVerdicts } from "./panel-population.ts";

export type PanelBenchOptions = {
  /** An empty database. */
  readonly databaseUrl: string;
};

const OURS_MS = 100;
const WARM_UP = 10;
const SIZES = [
  { count: 40, characters: 2_000 },
  { count: 20, characters: 200_000 },
] as const;
const QUEUED = 500;
/** How many of them are done when the worker is killed. */
const KILLED_AT = [40, 120, 200, 280, 360] as const;
const LIMIT_MS = 180_000;
const LEASE = { leaseMs: 15_000, renewMs: 4_000 };

/**
 * Runs verdicts from the queue to their stored decision against a server that answers at once, so that the time is ours but for
 * twelve trips on loopback; and queues 500 for a worker that is killed five times.
 */
export async function benchPanel({ databaseUrl }: PanelBenchOptions): Promise<BenchRow[]> {
  const db = openDatabase({
    url: databaseUrl,
    applicationName: "ahs-bench",
    maxConnections: 10,
    statementTimeoutMs: 60_000,
    connectTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
  const children: ChildProcess[] = [];
  try {
    await migrateDatabase(db);
    const environment = { DATABASE_URL: databaseUrl, ...(await startModel(children)) };
    const times = await measureRuns(db, environment);
    return [...times, ...(await surviveKills(db, environment, children))];
  } finally {
    for (const child of children) await killed(child);
    await db.$client.end();
  }
}

type Environment = Readonly<Record<string, string>>;

async function startModel(children: ChildProcess[]): Promise<Environment> {
  const port = await freePort();
  children.push(start("instant-model.ts", { PORT: String(port) }));
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const models = { PANEL_BASE_URL: baseUrl, PANEL_MODEL: "instant" };
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const answer = await fetch(baseUrl, { method: "POST", body: "{}" }).catch(() => null);
    if (answer !== null)
      return { ...models, PANEL_CONTEXT_TOKENS: "1000000", PANEL_TOKENS_PER_DAY: "1000000000" };
    await sleep(50);
  }
  throw new Error(`no model answers at ${baseUrl}`);
}

/** Milliseconds from claim to stored decision, one verdict after the other. */
async function measureRuns(db: Database, environment: Environment): Promise<BenchRow[]> {
  const deps = runDeps(db, environment);
  const rows: BenchRow[] = [];
  for (const { count, characters } of SIZES) {
    await queueVerdicts(db, { count: count + WARM_UP, characters });
    const times: number[] = [];
    for (let done = 0; done < count + WARM_UP; done += 1) times.push(await runNext(deps));
    await requireDecided(db, count + WARM_UP);
    const sorted = times.slice(WARM_UP).toSorted((a, b) => a - b);
    const name = `panel: one verdict on ${characters.toLocaleString("en")} characters, models answering at once`;
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
    rows.push(atMost(OURS_MS, { name: `${name}, median`, value: at(0.5), unit: "ms" }));
    rows.push(shown({ name: `${name}, p90`, value: at(0.9), unit: "ms" }));
  }
  return rows;
}

function runDeps(db: Database, environment: Environment): RunOneDeps {
  const registry = new Registry();
  const { panel: settings } = parseConfig(environment);
  if (settings === null) throw new Error("no panel is configured");
  const panel = panelFromConfig(settings, { registry, now: () => new Date() });
  return {
    db,
    chainId: 31_337,
    readReleased: async () => null,
    tokensOfCase: (panelCase) => tokensOfCase(panelCase, panel.settings),
    runAppealPanel: null,
    runPanel: (panelCase, run) => runPanel(panelCase, { ...panel, ...run }),
    metrics: createVerdictMetrics(registry),
    logger: pino({ level: "warn" }),
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    random: Math.random,
    lease: LEASE,
  };
}

async function runNext(deps: RunOneDeps): Promise<number> {
  const started = performance.now();
  const now = deps.now();
  const leaseUntil = new Date(now.getTime() + LEASE.leaseMs);
  const [claim] = await leaseVerdicts(deps.db, { now, leaseUntil, limit: 1 });
  if (claim === undefined) throw new Error("no verdict is due");
  await runOne(deps, claim, new AbortController().signal);
  return performance.now() - started;
}

/** Verdicts per second of one worker process, and what is left of 500 with five of them killed. */
async function surviveKills(
  db: Database,
  environment: Environment,
  children: ChildProcess[],
): Promise<BenchRow[]> {
  await queueVerdicts(db, { count: QUEUED, characters: 2_000 });
  const paces: number[] = [];
  for (const count of [...KILLED_AT, QUEUED]) {
    const before = await decided(db);
    const worker = start("panel-worker.ts", { ...environment, LOG_LEVEL: "warn" });
    children.push(worker);
    await reach(db, before + 1);
    const [started, first] = [performance.now(), await decided(db)];
    await reach(db, count);
    paces.push(((await decided(db)) - first) / ((performance.now() - started) / 1_000));
    await killed(worker);
  }
  const perSecond = paces.slice(0, KILLED_AT.length).toSorted((a, b) => a - b)[2] ?? Number.NaN;
  const { rows } = await db.$client.query<{
    verdicts: number;
    charges: number;
    decisions: number;
    events: number;
  }>(
    `select count(*) filter (where v.status = 'completed' and v.runs = 1)::int as verdicts,
            count(*) filter (where d.state = 'kept')::int as charges,
            (select count(*)::int from ahs.verdict_run) as decisions,
            (select count(*)::int from ahs.webhook_event) as events
     from ahs.verdict v join ahs.key_debit d on d.id = v.debit_id`,
  );
  const counted = rows.flatMap(({ verdicts, charges, decisions, events }) =>
    Object.entries({ verdicts, charges, decisions, events }),
  );
  return [
    shown({ name: "panel: throughput of a worker of eight at once", value: perSecond, unit: "verdicts/s" }),
    ...counted.map(([name, value]) =>
      exactly(`panel: ${name} of ${QUEUED} queued, worker killed five times`, value),
    ),
  ];
}

function exactly(name: string, value: number): BenchRow {
  return { ...atLeast(QUEUED, { name, value, unit: "" }), holds: value === QUEUED };
}

async function decided(db: Database): Promise<number> {
  const { rows } = await db.$client.query<{ n: number }>(
    "select count(*)::int as n from ahs.verdict where status = 'completed'",
  );
  return rows[0]?.n ?? Number.NaN;
}

async function requireDecided(db: Database, count: number): Promise<void> {
  const there = await decided(db);
  if (there !== count) throw new Error(`${there} of ${count} verdicts were decided`);
}

async function reach(db: Database, count: number): Promise<void> {
  const until = performance.now() + LIMIT_MS;
  while ((await decided(db)) < count) {
    if (performance.now() > until) throw new Error(`${count} verdicts: not within ${LIMIT_MS} ms`);
    await sleep(20);
  }
}

function start(script: string, environment: Environment): ChildProcess {
  const path = new URL(script, import.meta.url).pathname;
  const { PATH = "", HOME = "" } = process.env;
  return spawn(process.execPath, [path], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { PATH, HOME, ...environment },
  });
}

/** As a power cut would. */
async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
