import { eq, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { holdChain } from "../../db/chain-fence.ts";
import { viewOf } from "../../db/index-snapshot.ts";
import { holdClock } from "../../db/tables/settlement.ts";
import { type ClockStep, decideClock, type HoldClock, nextRerun } from "./decide-clock.ts";
import type { EscrowDeps } from "./escrow-deps.ts";
import { readEscrowIndex, readIndexedJob, readIndexedTime } from "./escrow-jobs.ts";

type Ticking = Pick<
  EscrowDeps,
  "db" | "deployment" | "askRerun" | "notifyReviewDue" | "metrics" | "logger" | "now"
>;

/** Time of the chain. */
type ChainTime = { readonly at: Date; readonly finalAt: Date; readonly finalBlock: bigint };

/** Held jobs checked in one round. */
const BATCH = 100;

/**
 * Runs the due actions of held jobs by the chain's time, each in its own database transaction: a re-run, again after a failure, the request
 * for a review, the record of an expiry on HOLD. Does nothing without an index.
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
      await deps.notifyReviewDue(tx, clock, now);
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

/** Starts a held job's clock; a running one stays as it is. */
export async function startClock(
  tx: NodePgDatabase,
  clock: Pick<HoldClock, "verdictId" | "expiresAt" | "endsAt" | "rerunAt" | "reviewBy"> & {
    readonly chainId: number;
    readonly createdAt: Date;
  },
): Promise<void> {
  await tx.insert(holdClock).values(clock).onConflictDoNothing();
}

/**
 * Reads clocks with a due action at that time of the chain, whose verdict is still HOLD and whose job has no stored end. Throws without an
 * index of the escrows.
 */
async function readDueClocks(
  db: NodePgDatabase,
  of: { readonly chainId: number; readonly at: Date; readonly limit: number },
): Promise<HoldClock[]> {
  const { rows } = await db.execute<ClockRow>(sql`
    select h.*, v.job_escrow, v.job_id from ahs.hold_clock h join ahs.verdict v on v.id = h.verdict_id
    where h.chain_id = ${of.chainId} and h.ended_at is null and v.final_verdict = 'HOLD'
      and v.replaced_at is null and v.job_id is not null
      and (h.ends_at <= ${of.at} or h.rerun_at <= ${of.at} or (h.review_told_at is null and h.review_by <= ${of.at})
        or exists (select from ${viewOf(of.chainId, "job")} j
          where j.id = v.job_escrow || ':' || v.job_id and j.ended_block is not null))
    order by h.expires_at limit ${of.limit}`);
  return rows.map(clockOf);
}

/** Locks the clock of a verdict that is still HOLD until the database transaction ends; null if it ended. */
async function takeClock(tx: NodePgDatabase, verdictId: string): Promise<HoldClock | null> {
  await tx.execute(sql`select 1 from ahs.verdict where id = ${verdictId} for update`);
  const { rows } = await tx.execute<ClockRow>(sql`
    select h.*, v.job_escrow, v.job_id from ahs.hold_clock h join ahs.verdict v on v.id = h.verdict_id
    where h.verdict_id = ${verdictId} and h.ended_at is null and v.final_verdict = 'HOLD'
      and v.replaced_at is null and v.job_id is not null for update of h`);
  return rows[0] === undefined ? null : clockOf(rows[0]);
}

/** Stores the actions of a clock. */
async function patchClock(
  tx: NodePgDatabase,
  verdictId: string,
  patch: {
    readonly rerunAskedAt?: Date;
    readonly rerunAt?: Date | null;
    readonly reviewToldAt?: Date;
    readonly expiredOnHoldAt?: Date;
    readonly endedAt?: Date;
  },
): Promise<void> {
  await tx.update(holdClock).set(patch).where(eq(holdClock.verdictId, verdictId));
}

/** Counts jobs on HOLD: all, and those with a requested review. */
export async function countHolds(
  db: NodePgDatabase,
  chainId: number,
): Promise<{ readonly open: number; readonly forReview: number }> {
  const { rows } = await db.execute<{ open: number; for_review: number }>(sql`
    select count(*)::int as open, count(h.review_told_at)::int as for_review
    from ahs.hold_clock h join ahs.verdict v on v.id = h.verdict_id
    where h.chain_id = ${chainId} and h.ended_at is null and v.final_verdict = 'HOLD'
      and v.replaced_at is null`);
  const [row] = rows;
  if (row === undefined) throw new Error("a count answers one row");
  return { open: row.open, forReview: row.for_review };
}

type ClockRow = {
  verdict_id: string;
  chain_id: number;
  job_escrow: Address;
  job_id: string;
  expires_at: Date | string;
  ends_at: Date | string | null;
  rerun_at: Date | string | null;
  review_by: Date | string;
  review_told_at: Date | string | null;
};

function clockOf(row: ClockRow): HoldClock {
  const moment = (at: Date | string | null) => (at === null ? null : new Date(at));
  return {
    verdictId: row.verdict_id,
    job: { chainId: row.chain_id, escrow: row.job_escrow, jobId: BigInt(row.job_id) },
    expiresAt: new Date(row.expires_at),
    endsAt: moment(row.ends_at),
    rerunAt: moment(row.rerun_at),
    reviewBy: new Date(row.review_by),
    reviewToldAt: moment(row.review_told_at),
  };
}
