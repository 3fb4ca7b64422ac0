import { setTimeout as sleep } from "node:timers/promises";
import { type RunOneDeps, runOne } from "./run-one.ts";
import { createTokenBudget, nextDay, type TokenBudget, tokensForJobs } from "./token-budget.ts";
import {
  claimVerdicts,
  listenForVerdicts,
  putOffDue,
  readVerdictQueue,
  type VerdictEar,
} from "./verdict-queue.ts";

export type VerdictWorkDeps = RunOneDeps & {
  /** Verdicts that this process runs at once. */
  readonly atOnce: number;
  /** Tokens that all runs of all workers may use per UTC day. */
  readonly tokensPerDay: number;
  readonly pace: WorkPace;
};

/** Milliseconds between two looks at the queue where nothing wakes the worker, and at what its gauges show. */
type WorkPace = { readonly pollMs: number; readonly gaugesMs: number };

type Queue = {
  readonly ear: VerdictEar;
  readonly budget: TokenBudget;
  readonly underWay: Set<Promise<void>>;
};

/**
 * Runs verdicts that are due until the signal fires, in as many processes as there are. Then it begins no more, breaks off what is
 * under way and gives it back. Once the day's tokens are spent, what is due waits for the next UTC day, and verdicts of no job once
 * only the share of jobs is left. Never throws: what fails is logged and tried again.
 */
export async function runVerdicts(deps: VerdictWorkDeps, signal: AbortSignal): Promise<void> {
  const budget = createTokenBudget(deps);
  const ear = listenForVerdicts(deps.db);
  const queue = { ear, budget, underWay: new Set<Promise<void>>() };
  await Promise.all([workQueue(deps, queue, signal), watchQueue(deps, budget, signal)]);
  ear.close();
}

async function workQueue(deps: VerdictWorkDeps, queue: Queue, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await beginDue(deps, queue, signal);
    } catch (error) {
      deps.logger.error({ err: error }, "verdicts that are due could not be claimed; trying again");
    }
    await rest(deps, queue, signal);
  }
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

/** Until a run ends, something becomes due, or it is time to look. */
async function rest({ pace }: VerdictWorkDeps, { ear, underWay }: Queue, signal: AbortSignal): Promise<void> {
  const rested = new AbortController();
  const woken = ear.wait(pace.pollMs, AbortSignal.any([signal, rested.signal]));
  await Promise.race([woken, ...underWay]);
  rested.abort();
  await woken;
}

async function watchQueue(deps: VerdictWorkDeps, budget: TokenBudget, signal: AbortSignal): Promise<void> {
  const { db, metrics, logger, pace } = deps;
  while (!signal.aborted) {
    try {
      const { depth, ageSeconds, processing } = await readVerdictQueue(db, deps.now());
      metrics.queueDepth.set(depth);
      metrics.queueAgeSeconds.set(ageSeconds);
      metrics.processing.set(processing);
      metrics.tokensLeft.set(Math.max(0, await budget.left()));
    } catch (error) {
      logger.warn({ err: error }, "the queue of verdicts could not be read");
    }
    await sleep(pace.gaugesMs, undefined, { signal }).catch(() => undefined);
  }
}
