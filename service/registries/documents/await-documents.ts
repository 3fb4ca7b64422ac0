import { setTimeout as sleep } from "node:timers/promises";

export type DocumentPatience = {
  /** Milliseconds to wait in all, without one more document read, and between two looks. */
  readonly maxMs: number;
  readonly stallMs: number;
  readonly pollMs: number;
};

/**
 * A fetch takes ten seconds at most: whoever reads documents has read one by then, or nobody does. All are counted at each
 * look, so that there are few.
 */
export const documentPatience: DocumentPatience = { maxMs: 600_000, stallMs: 45_000, pollMs: 10_000 };

export type DocumentWait = {
  /** How many documents wait to be read. */
  readonly countWaiting: () => Promise<number>;
  readonly patience: DocumentPatience;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
};

/** Waits until no document waits to be read, as long as patience allows. Throws the signal's reason when it fires. */
export async function awaitDocuments(
  { countWaiting, patience, monotonicMs }: DocumentWait,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = monotonicMs();
  let left = await countWaiting();
  let movedAt = startedAt;
  while (left > 0) {
    const now = monotonicMs();
    if (now - startedAt >= patience.maxMs || now - movedAt >= patience.stallMs) return;
    await sleep(patience.pollMs, undefined, { signal });
    const next = await countWaiting();
    if (next < left) movedAt = monotonicMs();
    left = next;
  }
}
