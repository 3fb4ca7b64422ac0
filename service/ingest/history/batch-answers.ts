import { pauseFor } from "../../db/run-loop.ts";
import { type AskPolicy, isFailure } from "./ask-source.ts";
import type { BlockRows } from "./batch-rows.ts";
import type { BatchAnswer, BatchAnswers, BatchHeader, BlockRange } from "./batch-source.ts";
import { type HistoryFailure, historyFailure } from "./history.ts";

/** The next part of a range: every block up to `to` that the source has rows or a header of. */
export type Portion = {
  readonly kind: "portion";
  readonly blocks: readonly BlockRows[];
  readonly to: number;
};

/** Asks for blocks from a number on, once. It may end at any block, or with a failure. */
export type AskPortions = (from: number, signal: AbortSignal) => AsyncIterable<Portion | HistoryFailure>;

/** Longer than for one wallet: a batch runs for minutes, and a public portal throttles. */
export const BATCH_POLICY: AskPolicy = { timeoutMs: 60_000, tries: 8, pauseMs: 500, longestPauseMs: 60_000 };

/** Rows that a source gathers before it answers. */
export const PORTION_ROWS = 2_000;

/** Behind: portals are many machines, of which some lag. */
const PASSING: ReadonlySet<HistoryFailure["reason"]> = new Set([
  "unavailable",
  "timeout",
  "rate_limited",
  "behind",
]);

/**
 * Reads a range portion by portion. Retries failures that may pass, from the first block without an answer on; the tries count anew
 * after each progress. Ends with a failure if blocks contradict each other or the request.
 */
export async function* answersOf<Block>(
  range: BlockRange,
  {
    ask,
    select,
    policy,
    everyBlock = false,
  }: {
    readonly ask: AskPortions;
    /** Whether the source must have every block, and not only those with wanted rows. */
    readonly everyBlock?: boolean;
    /** Null leaves a block out. */
    readonly select: (rows: BlockRows) => Block | HistoryFailure | null;
    readonly policy: AskPolicy;
  },
  signal: AbortSignal,
): BatchAnswers<Block> {
  let [next, tried] = [range.from, 0];
  let last: BatchHeader | null = null;
  while (next <= range.to) {
    const start = next;
    let failure: HistoryFailure | null = null;
    for await (const portion of ask(next, signal)) {
      if (isFailure(portion)) {
        failure = portion;
        break;
      }
      const { blocks, to } = portion;
      const fault = faultOf(portion, { from: next, to: range.to, last, everyBlock });
      const answer = fault === null ? answerOf(portion, select) : historyFailure("inconsistent", fault);
      yield answer;
      if (isFailure(answer)) return;
      last = blocks.at(-1)?.header ?? last;
      next = to + 1;
    }
    if (next > start) tried = 0;
    if (next > range.to || (failure === null && next > start)) continue;
    failure ??= historyFailure("unavailable", `no block from ${next} on in an answer`);
    tried += 1;
    const pauseMs = Math.max(
      Math.min(policy.pauseMs * 2 ** (tried - 1), policy.longestPauseMs),
      1000 * (failure.retryAfterSeconds ?? 0),
    );
    const isFinal = !PASSING.has(failure.reason) || tried >= policy.tries || pauseMs > policy.longestPauseMs;
    if (!isFinal) await pauseFor(pauseMs, signal);
    if (isFinal || signal.aborted) {
      yield failure;
      return;
    }
  }
}

function answerOf<Block>(
  { blocks, to }: Portion,
  select: (rows: BlockRows) => Block | HistoryFailure | null,
): BatchAnswer<Block> | HistoryFailure {
  const selected: Block[] = [];
  for (const rows of blocks) {
    const block = select(rows);
    if (block === null) continue;
    if (isBlock(block)) selected.push(block);
    else return block;
  }
  return { kind: "blocks", blocks: selected, to };
}

function isBlock<Block>(block: Block | HistoryFailure): block is Block {
  return typeof block === "object" && block !== null && !isFailure(block);
}

/** Numbers and times rise within the range, and a block is the parent of the next number. */
function faultOf(
  { blocks, to }: Portion,
  asked: BlockRange & { readonly last: BatchHeader | null; readonly everyBlock: boolean },
): string | null {
  if (to < asked.from || to > asked.to)
    return `asked for blocks ${asked.from} to ${asked.to}, got them to ${to}`;
  let { last } = asked;
  for (const { header } of blocks) {
    const { number, timestamp, parentHash } = header;
    if (number < asked.from || number > to) return `block ${number} among blocks ${asked.from} to ${to}`;
    if (last !== null && number <= last.number) return `block ${number} after block ${last.number}`;
    if (last !== null && timestamp < last.timestamp)
      return `block ${number} is older than block ${last.number}`;
    if (last?.number === number - 1 && last.hash !== parentHash)
      return `the parent of block ${number} is ${parentHash}, and block ${last.number} is ${last.hash}`;
    last = header;
  }
  const expected = to - asked.from + 1;
  if (asked.everyBlock && blocks.length < expected)
    return `expected ${expected} blocks from ${asked.from} to ${to}, got ${blocks.length}`;
  return null;
}
