import { runLoop } from "../../db/run-loop.ts";
import { type RunOneDeps, runOne } from "./run-one.ts";
import { createTokenBudget, nextDay, type TokenBudget, tokensForJobs } from "./token-budget.ts";
import {
  claimVerdicts,
  listenForVerdicts,
  putOffDue,
  readVerdictQueue,
  type VerdictListener,
} from "./verdict-queue.ts";

export type VerdictWorkDeps = RunOneDeps & {
  /** Verdicts that this process runs in parallel. */
  readonly atOnce: number;
  /** Token limit of all workers per UTC day. */
  readonly tokensPerDay: number;
  readonly pace: WorkPace;
};

/** Milliseconds between polls of the queue without a notification, and between updates of the gauges. */
type WorkPace = { readonly pollMs: number; readonly gaugesMs: number };

type Queue = {
  readonly listener: VerdictListener;
  readonly budget: TokenBudget;
  readonly underWay: Set<Promise<void>>;
};

/**
 * Runs due verdicts until the signal fires; any number of processes may do so. Then it starts no more, aborts the running ones and gives
 * them back. When the day's tokens are used up, due verdicts wait for the next UTC day; verdicts without a job wait when only the share for
 * jobs is left. Never throws: failures are logged and retried.
 */
export async function runVerdicts(deps: VerdictWorkDeps, signal: AbortSignal): Promise<void> {
  const budget = createTokenBudget(deps);
  const listener = listenForVerdicts(deps.db);
  const queue = { listener, budget, underWay: new Set<Promise<void>>() };
  await Promise.all([workQueue(deps, queue, signal), watchQueue(deps, budget, signal)]);
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
  const left = await queue.budget.left();
  const onlyOfJobs = left <= tokensForJobs(deps.tokensPerDay);
  if (onlyOfJobs) {
    const until = nextDay(now);
    const waiting = await putOffDue(db, { now, until, exceptOfJobs: left > 0 });
    if (waiting > 0) logger.warn({ waiting, until, left }, "the day's tokens are spent: verdicts wait");
    if (left <= 0) return;
  }
  const leaseUntil = new Date(now.getTime() + lease.leaseMs);
  for (const claim of await claimVerdicts(db, { now, leaseUntil, limit: room, onlyOfJobs })) {
    const done = runOne(deps, claim, signal)
      .catch((error: unknown) =>
        logger.error({ err: error, verdict: claim.verdictId }, "what came of a verdict could not be written"),
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

async function watchQueue(deps: VerdictWorkDeps, budget: TokenBudget, signal: AbortSignal): Promise<void> {
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
      metrics.tokensLeft.set(Math.max(0, await budget.left()));
    },
  });
}
