import { and, count, eq, exists, getTableColumns, isNotNull, isNull, lte, or } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { holdChain } from "../../db/chain-fence.ts";
import { indexOf } from "../../db/index-tables.ts";
import { holdClock } from "../../db/tables/settlement.ts";
import { verdict } from "../../db/tables/verdict.ts";
import { lockVerdict } from "../verdicts/lock-verdict.ts";
import {
  type ClockSnapshot,
  type ClockStep,
  decideClock,
  type HoldClock,
  nextRerun,
} from "./decide-clock.ts";
import type { EscrowDeps } from "./escrow-deps.ts";
import { jobIdOf, readEscrowIndex, readIndexedJob, readIndexedTime } from "./escrow-jobs.ts";
import { JOB_COLUMNS, jobOf } from "./types.ts";

type Ticking = Pick<
  EscrowDeps,
  "db" | "deployment" | "askRerun" | "notifyReviewDue" | "metrics" | "logger" | "now"
>;

const BATCH = 100;

/**
 * Runs the due actions of held jobs by the chain's time, each in its own database transaction: a re-run, again after a failure, the request
 * for a review, the record of an expiry on HOLD. Does nothing without an index.
 */
export async function tickClocks(deps: Ticking): Promise<void> {
  const { chainId } = deps.deployment;
  const time = await readTime(deps);
  if (time === null) return;
  for (const { verdictId } of await readDueClocks(deps.db, chainId, time.at)) {
    try {
      await tick(deps, verdictId, time);
    } catch (error) {
      deps.metrics.failures.inc({ at: "clock" });
      deps.logger.error({ err: error, verdict: verdictId }, "held job not processed: trying again");
    }
  }
}

async function readTime({ db, deployment }: Ticking): Promise<Omit<ClockSnapshot, "end"> | null> {
  const head = await readEscrowIndex(db, deployment.chainId);
  if (head === null) return null;
  const depth = BigInt(deployment.finalityBlocks);
  const finalBlock = head.number > depth ? head.number - depth : 0n;
  const finalTime = await readIndexedTime(db, deployment.chainId, finalBlock);
  if (finalTime === null) return null;
  return { at: dateOf(head.timestamp), finalAt: dateOf(finalTime), finalBlock };
}

async function tick(deps: Ticking, verdictId: string, time: Omit<ClockSnapshot, "end">): Promise<void> {
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
      await deps.notifyReviewDue(tx, clock, now);
      await patchClock(tx, verdictId, { reviewNotifiedAt: now });
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

/** Starts a held job's clock; a running one stays as it is. */
export async function startClock(tx: NodePgDatabase, clock: typeof holdClock.$inferInsert): Promise<void> {
  await tx.insert(holdClock).values(clock).onConflictDoNothing();
}

/** A clock that runs: its verdict is still HOLD, and its job has no stored end. */
const RUNNING = and(
  isNull(holdClock.endedAt),
  eq(verdict.finalVerdict, "HOLD"),
  isNull(verdict.replacedAt),
  isNotNull(verdict.jobId),
);

/** Reads running clocks with a due action at that time of the chain. Throws without an index of the escrows. */
async function readDueClocks(db: NodePgDatabase, chainId: number, at: Date) {
  const { job } = indexOf(chainId);
  const isTheJob = eq(job.id, jobIdOf(verdict.jobEscrow, verdict.jobId));
  const ended = db
    .select({ id: job.id })
    .from(job)
    .where(and(isTheJob, isNotNull(job.endedBlock)));
  return db
    .select({ verdictId: holdClock.verdictId })
    .from(holdClock)
    .innerJoin(verdict, eq(verdict.id, holdClock.verdictId))
    .where(
      and(
        eq(holdClock.chainId, chainId),
        RUNNING,
        or(
          lte(holdClock.endsAt, at),
          lte(holdClock.rerunAt, at),
          and(isNull(holdClock.reviewNotifiedAt), lte(holdClock.reviewBy, at)),
          exists(ended),
        ),
      ),
    )
    .orderBy(holdClock.expiresAt)
    .limit(BATCH);
}

/** Locks the running clock of a verdict until the database transaction ends; null if it ended. */
async function takeClock(tx: NodePgDatabase, verdictId: string): Promise<HoldClock | null> {
  await lockVerdict(tx, verdictId);
  const [row] = await tx
    .select({ ...getTableColumns(holdClock), ...JOB_COLUMNS })
    .from(holdClock)
    .innerJoin(verdict, eq(verdict.id, holdClock.verdictId))
    .where(and(eq(holdClock.verdictId, verdictId), RUNNING))
    .for("update");
  const job = row === undefined ? null : jobOf(row);
  return row === undefined || job === null ? null : { ...row, job };
}

async function patchClock(
  tx: NodePgDatabase,
  verdictId: string,
  patch: Partial<
    Pick<
      typeof holdClock.$inferInsert,
      "rerunAskedAt" | "rerunAt" | "reviewNotifiedAt" | "expiredOnHoldAt" | "endedAt"
    >
  >,
): Promise<void> {
  await tx.update(holdClock).set(patch).where(eq(holdClock.verdictId, verdictId));
}

/** Counts jobs on HOLD: all, and those with a requested review. */
export async function countHolds(db: NodePgDatabase, chainId: number) {
  const [holds] = await db
    .select({ open: count(), forReview: count(holdClock.reviewNotifiedAt) })
    .from(holdClock)
    .innerJoin(verdict, eq(verdict.id, holdClock.verdictId))
    .where(
      and(
        eq(holdClock.chainId, chainId),
        isNull(holdClock.endedAt),
        eq(verdict.finalVerdict, "HOLD"),
        isNull(verdict.replacedAt),
      ),
    );
  return holds ?? { open: 0, forReview: 0 };
}
