import { setTimeout as sleep } from "node:timers/promises";

export type DocumentPatience = {
  /** Milliseconds to wait in all, without one more document read, and between two looks. */
  readonly maxMs: number;
  readonly stallMs: number;
  readonly pollMs: number;
};

/** A fetch takes ten seconds at most: whoever reads documents has read one by then, or nobody does. */
export const documentPatience: DocumentPatience = { maxMs: 600_000, stallMs: 45_000, pollMs: 2_000 };

export type DocumentWait = {
  /** How many documents are due. */
  readonly countDue: () => Promise<number>;
  readonly patience: DocumentPatience;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
};

/** Waits until no document is due, as long as patience allows; answers how many are left. Throws the signal's reason when it fires. */
export async function awaitDocuments(
  { countDue, patience, monotonicMs }: DocumentWait,
  signal: AbortSignal,
): Promise<number> {
  const startedAt = monotonicMs();
  let left = await countDue();
  let movedAt = startedAt;
  while (left > 0) {
    const now = monotonicMs();
    if (now - startedAt >= patience.maxMs || now - movedAt >= patience.stallMs) return left;
    await sleep(patience.pollMs, undefined, { signal });
    const next = await countDue();
    if (next < left) movedAt = monotonicMs();
    left = next;
  }
  return left;
}
