import { holdChain } from "../../db/chain-fence.ts";
import { type ClockStep, decideClock, nextRerun } from "./decide-clock.ts";
import type { EscrowDeps } from "./escrow-deps.ts";
import { readEscrowIndex, readIndexedJob, readIndexedTime } from "./escrow-jobs.ts";
import { type HoldClock, patchClock, readDueClocks, takeClock } from "./hold-clocks.ts";

type Ticking = Pick<
  EscrowDeps,
  "db" | "deployment" | "askRerun" | "tellReviewDue" | "metrics" | "logger" | "now"
>;

/** What the chain's clock shows. */
type ChainTime = { readonly at: Date; readonly finalAt: Date; readonly finalBlock: bigint };

/** Held jobs looked at in one round. */
const BATCH = 100;

/**
 * Does what the clocks of held jobs ask for by the chain's time, each in a transaction of its own: a re-run, once more where that
 * failed, the call for a review, the record of an expiry on HOLD. Does nothing without an index.
 */
export async function tickClocks(deps: Ticking): Promise<void> {
  const { chainId } = deps.deployment;
  const time = await readTime(deps);
  if (time === null) return;
  for (const { verdictId } of await readDueClocks(deps.db, { chainId, at: time.at, limit: BATCH })) {
    try {
      await tick(deps, verdictId, time);
    } catch (error) {
      deps.metrics.failures.inc({ at: "clock" });
      deps.logger.error({ err: error, verdict: verdictId }, "held job not looked at: trying again");
    }
  }
}

async function readTime({ db, deployment }: Ticking): Promise<ChainTime | null> {
  const head = await readEscrowIndex(db, deployment.chainId);
  if (head === null) return null;
  const depth = BigInt(deployment.finalityBlocks);
  const finalBlock = head.number > depth ? head.number - depth : 0n;
  const finalTime = await readIndexedTime(db, deployment.chainId, finalBlock);
  if (finalTime === null) return null;
  return { at: dateOf(head.timestamp), finalAt: dateOf(finalTime), finalBlock };
}

async function tick(deps: Ticking, verdictId: string, time: ChainTime): Promise<void> {
  const now = deps.now();
  const done = await deps.db.transaction(async (tx): Promise<ClockStep | null> => {
    await holdChain(tx, deps.deployment.chainId);
    const clock = await takeClock(tx, verdictId);
    if (clock === null) return null;
    const end = (await readIndexedJob(tx, clock.job))?.end ?? null;
    const step = decideClock(clock, { end, ...time });
    if (step.kind === "end") {
      const expired = step.isExpiredOnHold ? { expiredOnHoldAt: clock.expiresAt } : {};
      await patchClock(tx, verdictId, { endedAt: now, ...expired });
      return step;
    }
    const answer = step.rerun ? await deps.askRerun(tx, { verdictId, at: now }) : "busy";
    if (answer === "asked")
      await patchClock(tx, verdictId, { rerunAskedAt: now, rerunAt: nextRerun(time.at, clock) });
    if (answer === "over") await patchClock(tx, verdictId, { rerunAt: null });
    if (step.review) {
      await deps.tellReviewDue(tx, clock, now);
      await patchClock(tx, verdictId, { reviewToldAt: now });
    }
    return { ...step, rerun: answer === "asked" };
  });
  if (done !== null) report(deps, verdictId, done);
}

function report({ metrics, logger }: Ticking, verdictId: HoldClock["verdictId"], step: ClockStep): void {
  const details = { verdict: verdictId };
  if (step.kind === "end") {
    if (step.isExpiredOnHold) metrics.outcomes.inc({ outcome: "expired_on_hold" });
    logger.info({ ...details, expiredOnHold: step.isExpiredOnHold }, "a held job has ended");
    return;
  }
  if (step.rerun) {
    metrics.outcomes.inc({ outcome: "rerun_asked" });
    logger.info(details, "a held verdict is run again: at least half of its job's time is over");
  }
  if (step.review) {
    metrics.outcomes.inc({ outcome: "review_told" });
    logger.warn(details, "a held verdict needs a review: a quarter of its job's time is left");
  }
}

function dateOf(seconds: bigint): Date {
  return new Date(Number(seconds) * 1000);
}
