import type { holdClock } from "../../db/tables/settlement.ts";
import type { IndexedJob } from "./escrow-jobs.ts";
import { type JobName, type JobTerm, jobEnd } from "./types.ts";

export type HoldClock = Pick<
  typeof holdClock.$inferSelect,
  "verdictId" | "expiresAt" | "endsAt" | "rerunAt" | "reviewBy" | "reviewNotifiedAt"
> & { readonly job: JobName };

/** Latest time of a clock, since a job's expiry may exceed any date. */
const LATEST_SECONDS = 253_402_300_799n;
/** Shortest pause before a failed re-run is requested again. */
const LEAST_RERUN_MS = 600_000;

/**
 * Times of a job that is held from `heldAt`, in Unix seconds: its re-run at half of its time, its review with a quarter of it left. A job
 * held after its expiry is due for both at once.
 */
export function holdMoments(heldAt: bigint, job: JobTerm) {
  const expiry = clamp(job.expiredAt);
  const left = expiry > heldAt ? expiry - heldAt : 0n;
  const end = jobEnd(job);
  return {
    expiresAt: expiryOf(job),
    endsAt: end === null ? null : dateOf(clamp(end)),
    rerunAt: dateOf(expiry - left / 2n),
    reviewBy: dateOf(expiry - left / 4n),
  };
}

export function expiryOf({ expiredAt }: Pick<JobTerm, "expiredAt">): Date {
  return dateOf(clamp(expiredAt));
}

/** Time to request a re-run again in case it failed: after half of the remaining time; null when none is left. */
export function nextRerun(askedAt: Date, { expiresAt }: Pick<HoldClock, "expiresAt">): Date | null {
  const left = expiresAt.getTime() - askedAt.getTime();
  const pause = Math.max(left / 2, LEAST_RERUN_MS);
  return pause < left ? new Date(askedAt.getTime() + pause) : null;
}

/** Snapshot of a held job in the index, with the chain's time. */
export type ClockSnapshot = {
  readonly end: IndexedJob["end"];
  readonly finalBlock: bigint;
  /** Times of the newest indexed block and of the newest final one. */
  readonly at: Date;
  readonly finalAt: Date;
};

export type ClockStep =
  | { readonly kind: "end"; readonly isExpiredOnHold: boolean }
  | { readonly kind: "ring"; readonly rerun: boolean; readonly review: boolean };

/**
 * Decides the action of a held job's clock. It ends with its job, or when no decision is possible any more. Otherwise it requests a re-run,
 * again after a failure, or one review.
 */
export function decideClock(
  clock: Pick<HoldClock, "endsAt" | "rerunAt" | "reviewBy" | "reviewNotifiedAt">,
  snapshot: ClockSnapshot,
): ClockStep {
  const { end, at } = snapshot;
  if (end !== null && end.block <= snapshot.finalBlock)
    return { kind: "end", isExpiredOnHold: end.status === "Expired" };
  if (clock.endsAt !== null && snapshot.finalAt >= clock.endsAt)
    return { kind: "end", isExpiredOnHold: true };
  // The end of the job may still be reorged, but a review does not help any more.
  const isOver = end !== null || (clock.endsAt !== null && at >= clock.endsAt);
  return {
    kind: "ring",
    rerun: !isOver && clock.rerunAt !== null && at >= clock.rerunAt,
    review: !isOver && clock.reviewNotifiedAt === null && at >= clock.reviewBy,
  };
}

function clamp(seconds: bigint): bigint {
  return seconds > LATEST_SECONDS ? LATEST_SECONDS : seconds;
}

function dateOf(seconds: bigint): Date {
  return new Date(Number(seconds) * 1000);
}
