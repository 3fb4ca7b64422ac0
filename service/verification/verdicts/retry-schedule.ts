/** A number from 0 to 1, 1 left out. */
export type Random = () => number;

/** What comes of a run that failed for a reason that may pass. */
export type RetryPlan = { readonly kind: "retry"; readonly at: Date } | { readonly kind: "over" };

/** For so long a run is tried again, counted from its first try. */
export const RETRY_FOR_MS = 3_600_000;
const SHORTEST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 600_000;
/** Either way, so that what failed together does not come back together. */
const JITTER = 0.2;

/**
 * When a run that failed is tried again: after as long as it has been tried for already, which doubles the waits, 5 seconds to 10
 * minutes and a fifth more or less. The last try comes when its hour is over, and after that it is over.
 */
export function planRetry(
  { triedAt, now }: { readonly triedAt: Date; readonly now: Date },
  random: Random,
): RetryPlan {
  const spentMs = now.getTime() - triedAt.getTime();
  if (spentMs >= RETRY_FOR_MS) return { kind: "over" };
  const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, spentMs));
  const at = now.getTime() + Math.round(waitMs * (1 - JITTER + 2 * JITTER * random()));
  return { kind: "retry", at: new Date(Math.min(at, triedAt.getTime() + RETRY_FOR_MS)) };
}
