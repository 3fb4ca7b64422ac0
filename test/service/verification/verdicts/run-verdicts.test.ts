import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunPanel } from "../../../../service/verification/verdicts/run-one.ts";
import { runVerdicts, type VerdictWorkDeps } from "../../../../service/verification/verdicts/run-verdicts.ts";
import { wakeWorkers } from "../../../../service/verification/verdicts/verdict-queue.ts";
import { answered, decided } from "./a-decision.ts";
import { createVerdictWorld, type VerdictWorld } from "./verdict-world.ts";

let world: VerdictWorld;
let stops: (() => Promise<void>)[];
beforeEach(async () => {
  world = await createVerdictWorld();
  stops = [];
});
afterEach(async () => {
  for (const stop of stops) await stop();
  await world.close();
});

function start(panel?: RunPanel, changes: Partial<VerdictWorkDeps> = {}): () => Promise<void> {
  const stopping = new AbortController();
  const pace = { pollMs: 20, gaugesMs: 20 };
  const deps = {
    ...world.deps(panel),
    atOnce: 4,
    tokensPerDay: 1_000_000,
    largestRun: 100,
    pace,
    ...changes,
  };
  const running = runVerdicts(deps, stopping.signal);
  const stop = async () => {
    stopping.abort();
    await running;
  };
  stops.push(stop);
  return stop;
}

async function statuses(): Promise<Record<string, number>> {
  const rows = await world.query<{ status: string; n: number }>(
    "select status, count(*)::int as n from ahs.verdict group by status",
  );
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

const LISTENING = "datname = current_database() and query like 'listen%'";

async function listeners(): Promise<number | undefined> {
  const [row] = await world.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where ${LISTENING} and state = 'idle'`,
  );
  return row?.n;
}

const reach = (wanted: Record<string, number>) => expect.poll(statuses).toEqual(wanted);

const fill = (count: number) => Promise.all(Array.from({ length: count }, () => world.add()));

describe("workers", () => {
  test("run everything that is due, each so many at once", async () => {
    await fill(20);
    let [running, most] = [0, 0];
    const panel: RunPanel = async () => {
      running += 1;
      most = Math.max(most, running);
      // Long enough for a worker that looks for more to find it.
      await sleep(60);
      running -= 1;
      return decided("ALLOW");
    };
    start(panel, { atOnce: 3 });
    await reach({ completed: 20 });
    expect(most).toBe(3);
  });

  test("side by side make one decision for each verdict", async () => {
    await fill(30);
    for (let worker = 0; worker < 3; worker += 1) start();
    await reach({ completed: 30 });
    expect(await world.query("select count(*)::int as n from ahs.verdict_run")).toEqual([{ n: 30 }]);
    expect(await world.events()).toHaveLength(30);
    expect(await world.outcomes()).toEqual({ allow: 30 });
  });

  test("wake as soon as a verdict is due", async () => {
    start(undefined, { pace: { pollMs: 60_000, gaugesMs: 60_000 } });
    await expect.poll(listeners).toBe(1);
    await world.add();
    await world.db.transaction((tx) => wakeWorkers(tx));
    await reach({ completed: 1 });
  });

  test("go on by polling after their connection to listen on was lost", async () => {
    start();
    await expect.poll(listeners).toBe(1);
    await world.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${LISTENING}`);
    await world.add();
    await reach({ completed: 1 });
  });
});

test("a worker that has to stop gives back what it runs, for another to take up at once", async () => {
  await fill(3);
  const stop = start(() => new Promise(() => undefined));
  await reach({ processing: 3 });
  await stop();
  expect(await statuses()).toEqual({ pending: 3 });
  start();
  await reach({ completed: 3 });
});

test("with the tokens of unpaid runs spent paid runs are made, and further re-runs wait for the next UTC day", async () => {
  const held = { runs: 1, finalVerdict: "HOLD", evaluatedAt: world.now() } as const;
  const first = await world.add({ ...held, cause: "evidence" });
  const panel: RunPanel = async (_, { keep }) => {
    await keep(answered("critic", {}));
    return decided("ALLOW");
  };
  const stop = start(panel, { atOnce: 1, tokensPerDay: 300 });
  await expect.poll(() => world.row(first)).toMatchObject({ status: "completed" });
  await stop();
  await fill(2);
  const rerun = await world.add({ ...held, cause: "near_expiry" });
  start(panel, { atOnce: 1, tokensPerDay: 300 });
  await reach({ completed: 3, pending: 1 });
  const midnight = new Date("2026-11-21T00:00:00.000Z");
  await expect
    .poll(() => world.row(rerun))
    .toMatchObject({ status: "pending", not_before: midnight, error_message: null });
  await expect
    .poll(() => world.registry.getSingleMetricAsString("ahs_panel_tokens_left"))
    .toContain("tokens_left 0");
  world.pass(midnight.getTime() - world.now().getTime());
  await reach({ completed: 4 });
});
