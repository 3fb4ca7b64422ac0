import type { PlannedCall } from "./plan-types.ts";
import type { Random } from "./random.ts";

/** Calls that are mined together, in this order. */
export type PlannedBlock = {
  /** Unix seconds: that of its last call, or later by as little as it takes to rise. */
  readonly time: number;
  readonly calls: readonly PlannedCall[];
};

const GAS_PER_BLOCK = 25_000_000;
const CALLS_PER_BLOCK = 120;

/**
 * Cuts calls into blocks of uneven length, about as many as aimed at and never more than the limit. A wallet's call
 * after its own failure, or after its first coins came in, waits for the next block. Throws when the limit is too
 * low for the calls.
 */
export function cutBlocks(
  calls: readonly PlannedCall[],
  random: Random,
  limits: { readonly blocks: number; readonly target: number },
): PlannedBlock[] {
  const sorted = calls
    .map((call, position) => ({ call, position }))
    .sort((a, b) => a.call.at - b.call.at || a.position - b.position)
    .map(({ call }) => call);
  const first = sorted[0];
  const last = sorted.at(-1);
  if (!first || !last) return [];
  let meanSpan = (last.at - first.at) / Math.max(1, limits.target);
  for (let attempt = 0; attempt < 12; attempt += 1) {
    const blocks = cut(sorted, random.fork(`attempt/${attempt}`), meanSpan);
    if (blocks.length <= Math.min(limits.blocks, limits.target * 1.1)) return blocks;
    if (attempt > 4 && blocks.length <= limits.blocks) return blocks;
    meanSpan *= 1.35;
  }
  throw new Error(`${calls.length} calls do not fit into ${limits.blocks} blocks`);
}

type OpenBlock = {
  readonly calls: PlannedCall[];
  readonly closesAt: number;
  gas: number;
  /** Senders that must wait for the next block. */
  readonly waiting: Set<string>;
};

function cut(calls: readonly PlannedCall[], random: Random, meanSpan: number): PlannedBlock[] {
  const blocks: PlannedBlock[] = [];
  let open: OpenBlock | null = null;
  for (const call of calls) {
    if (open === null || !fits(open, call)) {
      if (open !== null) blocks.push(closed(open, blocks.at(-1)));
      open = { calls: [], closesAt: call.at + random.exponential(meanSpan), gas: 0, waiting: new Set() };
    }
    open.calls.push(call);
    open.gas += call.gasLimit;
    if (call.outcome !== "success") open.waiting.add(call.from);
    if (call.value > 0n && call.to !== null) open.waiting.add(call.to);
  }
  if (open !== null) blocks.push(closed(open, blocks.at(-1)));
  return blocks;
}

function fits(block: OpenBlock, call: PlannedCall): boolean {
  return (
    call.at <= block.closesAt &&
    block.calls.length < CALLS_PER_BLOCK &&
    block.gas + call.gasLimit <= GAS_PER_BLOCK &&
    !block.waiting.has(call.from)
  );
}

function closed(block: OpenBlock, before: PlannedBlock | undefined): PlannedBlock {
  const last = block.calls.at(-1);
  if (!last) throw new Error("a block without calls cannot be closed");
  return { time: Math.max(last.at, (before?.time ?? 0) + 1), calls: block.calls };
}
