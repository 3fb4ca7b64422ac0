import type { IndexedEnd } from "../store/escrow-jobs.ts";
import type { HoldClock } from "../store/hold-clocks.ts";

/** Moments of a held job, between the signing of its HOLD and its expiry. */
export type HoldMoments = Pick<HoldClock, "expiresAt" | "rerunAt" | "reviewBy">;

/** The last moment that a clock is set to: a job may be given an expiry that no date can hold. */
const LATEST_SECONDS = 253_402_300_799n;

/** When a job held at one moment is run again, at half of its time, and reviewed at the latest, at a quarter of it left; in Unix seconds. */
export function holdMoments(heldAt: bigint, expiredAt: bigint): HoldMoments {
  const expiry = expiredAt > LATEST_SECONDS ? LATEST_SECONDS : expiredAt;
  const left = expiry - heldAt;
  return {
    expiresAt: dateOf(expiry),
    rerunAt: dateOf(expiry - left / 2n),
    reviewBy: dateOf(expiry - left / 4n),
  };
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

/** What a held job's clock does at that moment: it ends with its job, else it asks for a re-run or a review, each once. */
export function decideClock(clock: Omit<HoldClock, "verdictId" | "job">, sight: ClockSight): ClockStep {
  const { end, at } = sight;
  if (end !== null && end.block <= sight.finalBlock)
    return { kind: "end", isExpiredOnHold: end.status === "Expired" };
  if (sight.finalAt >= clock.expiresAt) return { kind: "end", isExpiredOnHold: true };
  // What ended the job may still be reorged, and no review helps any more.
  const isOver = end !== null || at >= clock.expiresAt;
  return {
    kind: "ring",
    rerun: !isOver && clock.rerunAskedAt === null && at >= clock.rerunAt,
    review: !isOver && clock.reviewToldAt === null && at >= clock.reviewBy,
  };
}

function dateOf(seconds: bigint): Date {
  return new Date(Number(seconds) * 1000);
}
