import type { IndexedEnd, JobKey } from "./escrow-jobs.ts";
import { type JobTerm, jobEnd } from "./types.ts";

/** The clock of a held job. */
export type HoldClock = {
  readonly verdictId: string;
  readonly job: JobKey;
  readonly expiresAt: Date;
  /** From when on nothing decides the job any more; null where that is once its refund is claimed. */
  readonly endsAt: Date | null;
  /** When a re-run is asked for next; null where no more is. */
  readonly rerunAt: Date | null;
  readonly reviewBy: Date;
  readonly reviewToldAt: Date | null;
};

/** Moments of a held job. */
type HoldMoments = Pick<HoldClock, "expiresAt" | "endsAt" | "reviewBy"> & { readonly rerunAt: Date };

/** The last moment that a clock is set to: a job may be given an expiry that no date can hold. */
const LATEST_SECONDS = 253_402_300_799n;
/** A re-run that failed is not asked for again sooner. */
const LEAST_RERUN_MS = 600_000;

/**
 * When a job held at one moment is run again, at half of its time, and reviewed at the latest, at a quarter of it left; in Unix
 * seconds. Held past its expiry, it is due for both at once.
 */
export function holdMoments(heldAt: bigint, job: JobTerm): HoldMoments {
  const expiry = clamp(job.expiredAt);
  const left = expiry > heldAt ? expiry - heldAt : 0n;
  const end = jobEnd(job);
  return {
    expiresAt: dateOf(expiry),
    endsAt: end === null ? null : dateOf(clamp(end)),
    rerunAt: dateOf(expiry - left / 2n),
    reviewBy: dateOf(expiry - left / 4n),
  };
}

/** When a re-run that was asked for is asked for again, should it have failed: half of what is left later; null once nothing is. */
export function nextRerun(askedAt: Date, { expiresAt }: Pick<HoldClock, "expiresAt">): Date | null {
  const left = expiresAt.getTime() - askedAt.getTime();
  const pause = Math.max(left / 2, LEAST_RERUN_MS);
  return pause < left ? new Date(askedAt.getTime() + pause) : null;
}

/** What the index shows of a held job, and how late it is on the chain. */
export type ClockSight = {
  readonly end: Pick<IndexedEnd, "status" | "block"> | null;
  readonly finalBlock: bigint;
  /** Times of the newest indexed block and of the newest that is final. */
  readonly at: Date;
  readonly finalAt: Date;
};

/** What a held job's clock does. */
export type ClockStep =
  | { readonly kind: "end"; readonly isExpiredOnHold: boolean }
  | { readonly kind: "ring"; readonly rerun: boolean; readonly review: boolean };

/**
 * What a held job's clock does at that moment: it ends with its job, or when nothing decides that any more, else it asks for a
 * re-run, as often as that fails, or once for a review.
 */
export function decideClock(
  clock: Pick<HoldClock, "endsAt" | "rerunAt" | "reviewBy" | "reviewToldAt">,
  sight: ClockSight,
): ClockStep {
  const { end, at } = sight;
  if (end !== null && end.block <= sight.finalBlock)
    return { kind: "end", isExpiredOnHold: end.status === "Expired" };
  if (clock.endsAt !== null && sight.finalAt >= clock.endsAt) return { kind: "end", isExpiredOnHold: true };
  // What ended the job may still be reorged, and no review helps any more.
  const isOver = end !== null || (clock.endsAt !== null && at >= clock.endsAt);
  return {
    kind: "ring",
    rerun: !isOver && clock.rerunAt !== null && at >= clock.rerunAt,
    review: !isOver && clock.reviewToldAt === null && at >= clock.reviewBy,
  };
}

function clamp(seconds: bigint): bigint {
  return seconds > LATEST_SECONDS ? LATEST_SECONDS : seconds;
}

function dateOf(seconds: bigint): Date {
  return new Date(Number(seconds) * 1000);
}
