import { nextDay } from "../../db/day-budget.ts";
import { runLoop } from "../../db/run-loop.ts";
import { type RunOneDeps, runOne } from "./run-one.ts";
import { readDayTokens } from "./token-budget.sql.ts";
import { tokenShares } from "./token-budget.ts";
import { leaseVerdicts, putOffFree, readVerdictQueue } from "./verdict-queue.sql.ts";
import { listenForVerdicts } from "./verdict-queue.ts";

export type VerdictWorkDeps = RunOneDeps & {
  /** Verdicts that this process runs in parallel. */
  atOnce: number;
  /** Token limit of all workers per UTC day. */
  tokensPerDay: number;
  /** Tokens of the largest run that is sold. */
  largestRun: number;
  /** Pauses between polls of the queue without a notification, and between updates of the gauges. */
  pace: { pollMs: number; gaugesMs: number };
};

type Queue = { listener: ReturnType<typeof listenForVerdicts>; underWay: Set<Promise<void>> };

/**
 * Runs due verdicts until the signal fires; any number of processes may do so. Then it starts no more, aborts the running ones and gives
 * them back. A paid run is always made. Unpaid runs wait for the next UTC day once their share of the tokens is spent.
 * Never throws: failures are logged and retried.
 */
export async function runVerdicts(deps: VerdictWorkDeps, signal: AbortSignal): Promise<void> {
  const listener = listenForVerdicts(deps.db);
  await Promise.all([workQueue(deps, { listener, underWay: new Set() }, signal), watchQueue(deps, signal)]);
  listener.close();
}

async function workQueue(deps: VerdictWorkDeps, queue: Queue, signal: AbortSignal): Promise<void> {
  const { pollMs } = deps.pace;
  await runLoop({
    logger: deps.logger,
    what: "leasing due verdicts",
    signal,
    pauseMs: pollMs,
    retryMs: { first: pollMs, longest: pollMs },
    wait: (ms) => rest(ms, queue, signal),
    pass: () => beginDue(deps, queue, signal),
  });
  await Promise.all(queue.underWay);
}

async function beginDue(deps: VerdictWorkDeps, queue: Queue, signal: AbortSignal): Promise<void> {
  const { db, logger, lease } = deps;
  const room = deps.atOnce - queue.underWay.size;
  if (room <= 0) return;
  const now = deps.now();
  const { free } = await readDayTokens(db, { ...deps, now });
  const withFree = free < tokenShares(deps.tokensPerDay).free;
  if (!withFree) {
    const until = nextDay(now);
    const waiting = await putOffFree(db, { now, until });
    if (waiting > 0)
      logger.warn({ waiting, until, free }, "the day's tokens for unpaid runs are spent: they wait");
  }
  const leaseUntil = new Date(now.getTime() + lease.leaseMs);
  for (const leased of await leaseVerdicts(db, { now, leaseUntil, limit: room, withFree })) {
    const done = runOne(deps, leased, signal)
      .catch((error: unknown) =>
        logger.error(
          { err: error, verdict: leased.verdictId },
          "the outcome of a verdict could not be stored",
        ),
      )
      .finally(() => queue.underWay.delete(done));
    queue.underWay.add(done);
  }
}

/** Waits until a run ends, a verdict becomes due, or the poll interval is over. */
async function rest(ms: number, { listener, underWay }: Queue, signal: AbortSignal): Promise<void> {
  const rested = new AbortController();
  const woken = listener.wait(ms, AbortSignal.any([signal, rested.signal]));
  await Promise.race([woken, ...underWay]);
  rested.abort();
  await woken;
}

async function watchQueue(deps: VerdictWorkDeps, signal: AbortSignal): Promise<void> {
  const { db, metrics, logger, pace } = deps;
  await runLoop({
    logger,
    what: "reading the queue of verdicts",
    signal,
    pauseMs: pace.gaugesMs,
    pass: async () => {
      const { depth, ageSeconds, processing } = await readVerdictQueue(db, deps.now());
      metrics.queueDepth.set(depth);
      metrics.queueAgeSeconds.set(ageSeconds);
      metrics.processing.set(processing);
      const { used, free } = await readDayTokens(db, { ...deps, now: deps.now() });
      metrics.tokensLeft.set(Math.max(0, deps.tokensPerDay - used - free));
    },
  });
}
