import type { Address } from "viem";
import { readCallSizes } from "./read/call-sizes.ts";
import { type ReadTask, type ReadWallets, readWallets, type ScoringContext } from "./score-wallets.ts";

/** Wallets of one batch: few enough for their calls to be short-lived in memory. */
export const SCORING_BATCH = 250;

/** Batches in progress at once: the database reads for one while this process scores the other. */
export const SCORING_LANES = 2;

/**
 * Bytes of call text that one part of a batch holds, unless a single wallet has more. Parsed calls take about four times as
 * much memory: two lanes stay far below Node's default heap.
 */
const PART_BYTES = 32 * 1_048_576;

/**
 * Reads the wallets of a batch in parts of bounded size, the next one when the caller is done with the last. Ends early where
 * there is no block to score at any more.
 */
export async function* readInParts(
  context: ScoringContext,
  task: ReadTask,
  partBytes = PART_BYTES,
): AsyncGenerator<ReadWallets, void, undefined> {
  const { db, chainId } = context;
  const sizes = await readCallSizes(db.$client, { chainId, wallets: task.wallets });
  for (const wallets of divideBySize(task.wallets, sizes, partBytes)) {
    const read = await readWallets(context, { ...task, wallets });
    if (read === null) return;
    yield read;
  }
}

/** Divides wallets, in their order, so that no part but that of a single wallet holds more bytes than wanted. */
function divideBySize(
  wallets: readonly Address[],
  sizes: ReadonlyMap<string, number>,
  partBytes: number,
): readonly (readonly Address[])[] {
  const parts: Address[][] = [];
  let bytes = 0;
  for (const wallet of wallets) {
    const size = sizes.get(wallet) ?? 0;
    const part = parts.at(-1);
    if (part === undefined || bytes + size > partBytes) {
      parts.push([wallet]);
      bytes = size;
    } else {
      part.push(wallet);
      bytes += size;
    }
  }
  return parts;
}
