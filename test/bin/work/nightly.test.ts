import { setTimeout as sleep } from "node:timers/promises";
import { schedule } from "node-cron";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { runScanCommand } from "../../../bin/commands/scan.ts";
import { type NightlyContext, runNightly } from "../../../bin/work/nightly.ts";
import { createScanRunMetrics } from "../../../service/registries/metrics.ts";
import { scanOnce } from "../../../service/registries/nightly/scan-once.ts";
import {
  fixReach,
  NIGHT_CRON,
  nightOf,
  nightStart,
  readScans,
} from "../../../service/registries/nightly/scan-runs.ts";
import {
  CHAIN,
  createReportWorld,
  FINAL,
  nodeWith,
  OLAS,
  olasService,
  type ReportWorld,
  walletOf,
} from "../../service/registries/nightly/report-world.ts";
import { until } from "../../support/until.ts";

const PAUSES = { pollMs: 10, failureMs: 10, longestMs: 40 };

let world: ReportWorld;
const workers: { stop: AbortController; done: Promise<void> }[] = [];

beforeAll(async () => {
  world = await createReportWorld();
  await world.db.$client.query(
    `insert into ahs.enrich_cursor (chain_id, block, block_hash) values (${CHAIN}, 1000, '0xaa')`,
  );
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.clear();
  world.clock.ms = Date.parse("2026-11-20T02:10:00Z");
  await world.grade(walletOf(1), "A");
});
afterEach(stopWorkers);

async function stopWorkers(): Promise<void> {
  for (const { stop } of workers) stop.abort();
  await Promise.all(workers.splice(0).map(({ done }) => done));
}

const quick: NightlyContext["scan"] = (attempt, signal) => scanOnce(world.deps, attempt, signal);

function startWorker(scan: NightlyContext["scan"] = quick, changes: Partial<NightlyContext> = {}) {
  const stop = new AbortController();
  const registry = new Registry();
  const metrics = createScanRunMetrics(registry);
  const { db } = world.deps;
  const logger = pino({ level: "silent" });
  let looks = 0;
  // A look begins with it; one that scans asks again.
  const now = () => {
    looks += 1;
    return world.deps.now();
  };
  const help = async () => undefined;
  const context = { db, chainId: CHAIN, scan, help, metrics, logger, now, pauses: PAUSES, ...changes };
  const done = runNightly(context, stop.signal);
  workers.push({ stop, done });
  const twoLooks = async () => {
    // One may be under way: of three that begin two are over.
    const last = looks + 3;
    await until({ what: "two looks" }, async () => (looks >= last ? looks : null));
  };
  return { registry, twoLooks };
}

const scans = async () => (await readScans(world.db, CHAIN, 10)).toReversed();

async function allDone(count: number) {
  return until({ what: `${count} scans are done`, timeoutMs: 170_000 }, async () => {
    const rows = await scans();
    return rows.length >= count && rows.every(({ state }) => state !== "running") ? rows : null;
  });
}

test("however many workers there are, a night is scanned once, and each logs it", async () => {
  let begun = 0;
  const counted: NightlyContext["scan"] = async (attempt, signal) => {
    begun += 1;
    await sleep(50);
    return quick(attempt, signal);
  };
  const all = Array.from({ length: 4 }, () => startWorker(counted));
  expect(await allDone(1)).toMatchObject([
    { night: "2026-11-20", cause: "nightly", state: "done", attempts: 1 },
  ]);
  await Promise.all(all.map(({ twoLooks }) => twoLooks()));
  expect([begun, (await scans()).length]).toEqual([1, 1]);
  for (const { registry } of all) {
    await until({ what: "the worker tells of the scan" }, async () => {
      const last = await registry.getSingleMetric("ahs_scan_last_success_timestamp_seconds")?.get();
      return last?.values[0]?.value === world.clock.ms / 1_000 ? last : null;
    });
  }
});

test("a scan whose worker dies over it is gone on with at once by another, and nothing is doubled", async () => {
  const node = nodeWith([...olasService(1, 5), ...olasService(2, 700)]);
  const deps = { ...world.deps, ...world.withRegistries([OLAS]) };
  let isDying = true;
  // The lock's connection goes with the process; what it was doing never ends, nor does it hear of anything.
  const mortal: NightlyContext["scan"] = async (attempt, signal) => {
    const logs: typeof node.logs = async (filter) => {
      if (!isDying || filter.from === 1) return node.logs(filter);
      isDying = false;
      await world.db.$client.query(
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = $1 and pid <> pg_backend_pid() and database = (select oid from pg_database where datname = current_database())",
        [CHAIN],
      );
      return new Promise(() => undefined);
    };
    return Promise.race([
      scanOnce({ ...deps, openReader: () => ({ ...node, logs }) }, attempt, signal),
      new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    ]);
  };
  startWorker(mortal);
  startWorker(mortal);
  const [row] = await allDone(1);
  expect(row).toMatchObject({ state: "done", attempts: 2, error: null });
  expect(row?.report?.registries[1]).toMatchObject({ agents: 2, newAgents: 2, newWallets: 2, block: 1_000 });
  expect(await world.agents()).toHaveLength(2);
});

test("workers that do not scan help with its scores, up to the block at which it began, until it is done", async () => {
  const helped: number[] = [];
  const help = async (reach: number) => void helped.push(reach);
  const slow: NightlyContext["scan"] = async (attempt, signal) => {
    expect(await fixReach(world.db, attempt)).toBe(FINAL);
    await until({ what: "others help" }, () => (helped.length > 2 ? true : null));
    return quick(attempt, signal);
  };
  startWorker(slow, { help });
  startWorker(slow, { help });
  await allDone(1);
  expect(new Set(helped)).toEqual(new Set([FINAL]));
});

test("of the nights that were missed the newest is made up at the next start", async () => {
  startWorker();
  await allDone(1);
  await stopWorkers();
  world.clock.ms = Date.parse("2026-11-24T01:00:00Z");
  startWorker();
  expect((await allDone(2)).map(({ night }) => night)).toEqual(["2026-11-20", "2026-11-23"]);
  world.clock.ms = Date.parse("2026-11-24T02:10:00Z");
  expect((await allDone(3)).map(({ night }) => night)).toEqual(["2026-11-20", "2026-11-23", "2026-11-24"]);
});

test("the clock wakes a worker that would check much later", async () => {
  let wake: () => void = () => undefined;
  const onNight: NightlyContext["onNight"] = (ring) => {
    wake = ring;
    return () => undefined;
  };
  startWorker(quick, { pauses: { ...PAUSES, pollMs: 600_000 }, onNight });
  await allDone(1);
  // The check after the scan finds the night done, so the next one is two hours away.
  wake();
  world.clock.ms = Date.parse("2026-11-21T02:10:00Z");
  await until({ what: "the next night's scan" }, async () => {
    wake();
    return (await scans()).length === 2 ? true : null;
  });
  expect((await allDone(2)).map(({ night }) => night)).toEqual(["2026-11-20", "2026-11-21"]);
});

test("the clock rings when a night becomes due", () => {
  const task = schedule(NIGHT_CRON, () => undefined, { timezone: "UTC" });
  const next = task.getNextRun();
  void task.destroy();
  expect(next).toEqual(nightStart(nightOf(new Date(Date.now() + 86_400_000))));
});

test("a scan that fails is tried again until it succeeds, says so, and gives way to the next night's", async () => {
  const morning = Date.parse("2026-11-21T03:00:00Z");
  const broken: NightlyContext["scan"] = async (attempt, signal) => {
    if (attempt.startedAt.getTime() < morning) throw new Error("out of order");
    return quick(attempt, signal);
  };
  startWorker(broken);
  await until({ what: "two attempts failed" }, async () => {
    const [row] = await scans();
    return row?.error != null && row.attempts >= 2 ? row : null;
  });
  world.clock.ms = morning;
  expect(await allDone(2)).toMatchObject([
    { night: "2026-11-20", state: "abandoned", report: null },
    { night: "2026-11-21", state: "done", error: null },
  ]);
});

test("a scan that fails with its database, which notes nothing of it, is one failure", async () => {
  const { $client } = world.db;
  await $client.query(`
    create function chain_31337.refuse() returns trigger language plpgsql as 'begin raise exception ''gone''; end';
    create trigger refuse before update of error on ahs.scan_run for each row execute function chain_31337.refuse()`);
  let attempts = 0;
  const { registry } = startWorker(async (attempt, signal) => {
    attempts += 1;
    if (attempts === 1) throw new Error("out of order");
    await $client.query("drop function chain_31337.refuse cascade");
    return quick(attempt, signal);
  });
  await allDone(1);
  const failures = await registry.getSingleMetric("ahs_scan_failures_total")?.get();
  expect(failures?.values).toMatchObject([{ value: 1 }]);
});

test("nothing is scanned before there is a score", async () => {
  await world.clear();
  await startWorker().twoLooks();
  expect(await scans()).toEqual([]);
});

test("a scan by hand has its own row and report, and none begins beside another", async () => {
  const lines: string[] = [];
  const deps = {
    ...{ db: world.db, chainId: CHAIN, now: world.deps.now, signal: new AbortController().signal },
    out: (line: string) => lines.push(line),
  };
  const slow: NightlyContext["scan"] = async (attempt, signal) => {
    const beside = runScanCommand(["run"], { ...deps, openScan: async () => quick });
    await expect(beside).rejects.toThrow("a scan is running already");
    return quick(attempt, signal);
  };
  await runScanCommand(["run"], { ...deps, openScan: async () => slow });
  const [row] = await scans();
  expect(row).toMatchObject({ night: "2026-11-20", cause: "hand", state: "done" });
  expect(lines.join("\n")).toContain("1 A, 0 B");
  world.clock.ms += 1_000;
  startWorker();
  await allDone(2);
  lines.length = 0;
  await runScanCommand(["list"], { ...deps, openScan: async () => quick });
  expect(lines).toEqual([
    expect.stringMatching(/^id +night +cause +state/),
    expect.stringMatching(/2026-11-20 +nightly +done .* 0 +0 +0$/),
    expect.stringMatching(/2026-11-20 +hand +done .* 0 +0 +–$/),
  ]);
  lines.length = 0;
  await runScanCommand(["show", String(row?.id.slice(0, 8)), "--json"], {
    ...deps,
    openScan: async () => quick,
  });
  expect(JSON.parse(lines.join("\n"))).toMatchObject({ id: row?.id, report: { grades: { A: 1 } } });
  for (const [args, fault] of [
    [["show", "2026-01-01"], "no scan of that id or night"],
    [["stop"], "unknown action"],
    [[], "no action"],
    [["run", "now"], "too many arguments"],
  ] as const) {
    await expect(runScanCommand(args, { ...deps, openScan: async () => quick })).rejects.toThrow(fault);
  }
});
