/** The newest block that an index holds; the timestamp is in Unix seconds. */
export type IndexHead = { readonly blockNumber: number; readonly timestamp: number };

/** Blocks are dated by other machines' clocks; geth takes blocks that are as far ahead, whatever the maximum age is. */
const MOST_AHEAD_SECONDS = 15;

/** Whether the head of an index is young enough to answer from, in words. A head further in the future than it may be old has no known age. */
export function freshnessOf(
  { blockNumber, timestamp }: IndexHead,
  { now, maxAgeSeconds }: { readonly now: Date; readonly maxAgeSeconds: number },
): { readonly ok: boolean; readonly detail: string } {
  const age = Math.floor(now.getTime() / 1_000) - timestamp;
  if (age < -Math.max(MOST_AHEAD_SECONDS, maxAgeSeconds)) {
    const detail = `block ${blockNumber} is ${-age} s in the future: the clock of the chain or of the database is wrong`;
    return { ok: false, detail };
  }
  const detail = `block ${blockNumber} is ${Math.max(0, age)} s old, at most ${maxAgeSeconds} s allowed`;
  return { ok: age <= maxAgeSeconds, detail };
}
