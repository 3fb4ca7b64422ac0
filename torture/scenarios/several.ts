import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { slowModel } from "../stand/stand.ts";
import { type Injection, NEVER_RESTARTS, type ScenarioContext } from "./scenario.ts";

const ALL = { servers: 2, workers: 3 };
const ONE = { servers: 1, workers: 1 };
/** A model that takes its time: what a worker has under way at once is its limit, as it is with models that people pay for. */
const MODEL_MS = 250;
const USUAL_MODEL_MS = 60;
/** Scores follow final blocks. */
const BUSY_BLOCK_MS = 80;
const BUSY = {
  calls: { everyMs: 1, atOnce: 32 },
  outputs: { everyMs: 20, atOnce: 60 },
} as const;
const USUAL = {
  calls: { everyMs: 60, atOnce: 8 },
  outputs: { everyMs: 500, atOnce: 6 },
} as const;
/** Until what was handed in before the first measured moment is under way everywhere. */
const WARM_UP_MS = 1_500;

/** As many clients as can be, on one server and one worker, and on two and three: what each gets done, and by whom. */
export async function several(context: ScenarioContext): Promise<Injection> {
  const { stand, load, extent } = context;
  await slowModel(stand.model, MODEL_MS);
  const setPaces = (pace: typeof BUSY | typeof USUAL) => {
    load.calls.setPace(pace.calls);
    load.outputs.setPace(pace.outputs);
  };
  load.setBlockMs(BUSY_BLOCK_MS);
  await stand.services.scale(ONE);
  setPaces(BUSY);
  const one = await measure(context);
  await stand.services.scale(ALL);
  const all = await measure(context);
  const shares = await verdictShares(stand.services.workerMetrics());
  setPaces(USUAL);
  await slowModel(stand.model, USUAL_MODEL_MS);
  return {
    injected: ALL.servers + ALL.workers,
    of: `servers and workers, ${extent.measureMs / 1_000} s each way`,
    recovery: null,
    mayRestart: NEVER_RESTARTS,
    notes: [
      ...(["calls", "verdicts", "scores"] as const).map((what) => describeRates(what, all[what], one[what])),
      `verdicts by worker: ${shares.join(", ")}`,
      await describeNights(context),
    ],
  };
}

async function measure({
  stand,
  load,
  extent,
}: ScenarioContext): Promise<Readonly<Record<"calls" | "verdicts" | "scores", number>>> {
  await sleep(WARM_UP_MS);
  const count = async () => {
    const { rows } = await stand.db.$client.query<{ verdicts: number; scores: number }>(
      `select (select count(*)::int from ahs.verdict_run) as verdicts, (select count(*)::int from ahs.score) as scores`,
    );
    const calls = load.calls.operations.filter(({ doneAt }) => doneAt !== null).length;
    return { calls, verdicts: Number(rows[0]?.verdicts), scores: Number(rows[0]?.scores) };
  };
  const started = performance.now();
  const before = await count();
  await sleep(extent.measureMs);
  const after = await count();
  const seconds = (performance.now() - started) / 1_000;
  return {
    calls: (after.calls - before.calls) / seconds,
    verdicts: (after.verdicts - before.verdicts) / seconds,
    scores: (after.scores - before.scores) / seconds,
  };
}

function describeRates(what: string, all: number, one: number): string {
  if (one === 0) return `${what}: none fell due with one of each, so that nothing can be compared`;
  return `${what}: ${all.toFixed(1)}/s by two servers and three workers, ${one.toFixed(1)}/s by one of each, × ${(all / one).toFixed(2)}`;
}

/** Verdicts that each worker ran since it was started, by its own metrics. */
async function verdictShares(urls: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    urls.map(async (url) => {
      const text = await (await fetch(url)).text();
      const runs = [...text.matchAll(/^ahs_verdict_runs_total\{.*\} (\d+)$/gm)];
      return String(runs.reduce((sum, [, count]) => sum + Number(count), 0));
    }),
  );
}

/** One scan for a night, however many workers ask for it, and one line of it in all their logs. */
async function describeNights({ stand, faults }: ScenarioContext): Promise<string> {
  const { rows } = await stand.db.$client.query<{ nights: number; done: number }>(
    `select count(*)::int as nights, count(*) filter (where state = 'done')::int as done
     from ahs.scan_run where cause = 'nightly'`,
  );
  const nights = Number(rows[0]?.nights);
  const done = Number(rows[0]?.done);
  const reported = stand.services
    .all()
    .map(({ logFile }) => readFileSync(logFile, "utf8").split('"msg":"nightly scan done"').length - 1)
    .reduce((sum, times) => sum + times, 0);
  if (reported > nights) faults.note("a night was scanned twice", `${reported} scans of ${nights} nights`);
  return `nightly scans: ${nights} begun, ${done} done, ${reported} reported by three workers`;
}
