import type { SamplingRule } from "../../chain/deployments.ts";

/** First block of a block's stretch, which is also the first that is sampled of it. */
export function stretchStart({ everyBlocks }: SamplingRule, block: number): number {
  return block - (block % everyBlocks);
}

/** The sampled blocks of the stretch that starts at a block. */
export function sampleOf({ blocks }: SamplingRule, start: number): readonly number[] {
  return Array.from({ length: blocks }, (_, place) => start + place);
}

/** Starts of the stretches whose last sampled block lies in the range. */
export function samplesEndingIn(
  { everyBlocks, blocks }: SamplingRule,
  { from, to }: { readonly from: number; readonly to: number },
): readonly number[] {
  const starts: number[] = [];
  const first = Math.max(0, Math.ceil((from - blocks + 1) / everyBlocks));
  for (let start = first * everyBlocks; start + blocks - 1 <= to; start += everyBlocks) starts.push(start);
  return starts;
}
