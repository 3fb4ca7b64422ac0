import type { BlockRange } from "../history/batch-source.ts";

/** Part of the wanted time that the first slice is: a day of 180, so that a young wallet has a score after one. */
const FIRST_PART = 180;
/** Each further slice is so many times as long as all before it: six reach the edge. */
export const GROWTH = 3;

/**
 * The next blocks to read of wallets, newest first: those before `coveredFrom`, or up to `newest` where nothing is read yet; null once
 * they are read from `edge` on.
 */
export function planSlice(wanted: {
  readonly edge: number;
  readonly newest: number;
  readonly coveredFrom: number | null;
  /** Longest slice in blocks; null for no limit. */
  readonly mostBlocks: number | null;
}): BlockRange | null {
  const { edge, newest, coveredFrom, mostBlocks } = wanted;
  const to = coveredFrom === null ? newest : coveredFrom - 1;
  if (to < edge) return null;
  const covered = newest - to;
  const first = Math.ceil((newest - edge + 1) / FIRST_PART);
  const planned = covered <= 0 ? first : GROWTH * covered;
  const length = Math.min(planned, mostBlocks ?? planned);
  return { from: Math.max(edge, to - length + 1), to };
}

/**
 * The first block at or after a moment (Unix seconds), between block 1 and `newest`; `newest` if that is earlier. It guesses by the
 * mean time between blocks, so that few headers are asked for.
 */
export async function firstBlockSince(
  moment: number,
  newest: { readonly number: number; readonly timestamp: number },
  timeOf: (block: number) => Promise<number>,
): Promise<number> {
  let before = { number: 0, timestamp: await timeOf(0) };
  let after = newest;
  if (moment <= before.timestamp) return Math.min(1, newest.number);
  for (let tries = 0; after.number - before.number > 1 && after.timestamp > moment; tries += 1) {
    const share = (moment - before.timestamp) / (after.timestamp - before.timestamp);
    const span = after.number - before.number;
    // Every third try halves: uneven times between blocks could make guesses creep.
    const guess = tries % 3 === 2 ? Math.floor(span / 2) : Math.round(share * span);
    const number = before.number + Math.min(span - 1, Math.max(1, guess));
    const timestamp = await timeOf(number);
    if (timestamp >= moment) after = { number, timestamp };
    else before = { number, timestamp };
  }
  return after.number;
}
