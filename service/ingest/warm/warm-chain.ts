import { dayOf, SECONDS_PER_DAY } from "../../model/features/time.ts";
import { mapLimited } from "../../net/map-limited.ts";
import { readPricesAt, storeFeedPrices } from "../enrich/prices.ts";
import { fillSampled } from "../enrich/sampled-blocks.ts";
import { type SampledBlock, sampledBlockOf } from "../enrich/sampling.ts";
import { stretchStart } from "../enrich/stretches.ts";
import { isFailure } from "../history/ask-source.ts";
import type { BlockRange } from "../history/batch-source.ts";
import { firstBlockSince } from "./plan-slice.ts";
import { headerOf, SourceFailure, type WarmContext } from "./warm-context.ts";

/** Stretches whose samples are read before they are stored: what a kill can cost. */
const STRETCHES_AT_ONCE = 8;

/** Reads and stores the sampled blocks of a range that are not stored yet, newest first. Throws a SourceFailure or a NodeFailure. */
export async function warmSamples(
  context: WarmContext,
  { generation, ...range }: BlockRange & { readonly generation: string },
): Promise<void> {
  const { chainId, db, rule } = context.enrich;
  const step = STRETCHES_AT_ONCE * rule.everyBlocks;
  let to = range.to;
  while (to >= range.from) {
    // From the start of a stretch on: within one, its first block is asked for by itself.
    const from = Math.max(range.from, stretchStart(rule, Math.max(0, to - step + 1)));
    const wanted = { chainId, rule, samplesOf: { from, to }, tipsOf: [from], generation };
    await fillSampled(db, wanted, (numbers) => readSampled(context, numbers));
    to = from - 1;
  }
}

/** Several runs at once, since each is a request: the source bounds their rate. */
async function readSampled(
  context: WarmContext,
  numbers: readonly number[],
): Promise<readonly SampledBlock[]> {
  const { concurrency } = context.enrich.limits;
  const found = await mapLimited(runsOf(numbers), concurrency, (run) => readRun(context, run));
  await requireSame(context, found.flat());
  return found.flat();
}

async function readRun(
  { enrich, source, signal }: WarmContext,
  run: BlockRange,
): Promise<readonly SampledBlock[]> {
  const found: SampledBlock[] = [];
  for await (const answer of source.readBlocks(run, signal)) {
    signal.throwIfAborted();
    if (isFailure(answer)) throw new SourceFailure(answer);
    for (const { header, transactions } of answer.blocks) {
      const { number, hash, timestamp, baseFeePerGas = null } = header;
      const head = { number, hash, timestamp, baseFeeWei: baseFeePerGas };
      const receipts = transactions.map(({ receipt }) => receipt);
      found.push(sampledBlockOf(head, receipts, enrich.market.listed));
    }
  }
  return found;
}

/** Compares the blocks' hashes with the node's: one of each run, at random. */
async function requireSame(context: WarmContext, blocks: readonly SampledBlock[]): Promise<void> {
  const one = blocks[Math.floor(context.random() * blocks.length)];
  if (one === undefined) return;
  const { hash } = await headerOf(context, one.number);
  if (hash === one.hash) return;
  const detail = `block ${one.number} is ${hash} at the node, and ${one.hash} at the batch source`;
  throw new SourceFailure({ kind: "failed", reason: "inconsistent", detail, retryAfterSeconds: null });
}

/** Ranges of numbers that follow one another. */
function runsOf(numbers: readonly number[]): readonly BlockRange[] {
  const runs: { from: number; to: number }[] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && last.to === number - 1) last.to = number;
    else runs.push({ from: number, to: number });
  }
  return runs;
}

/** Reads and stores the prices of the days of a range, newest first. Throws a NodeFailure. */
export async function warmPrices(context: WarmContext, range: BlockRange): Promise<void> {
  const { db, chainId, market } = context.enrich;
  if (market.feeds.length === 0) return;
  const timeOf = async (block: number) => (await headerOf(context, block)).timestamp;
  const first = dayOf(await timeOf(range.from));
  let end = { number: range.to, timestamp: await timeOf(range.to) };
  for (let day = dayOf(end.timestamp); day >= first; day -= 1) {
    if (dayOf(end.timestamp) === day) {
      const prices = await readPricesAt(context.enrich, { block: end.number, timestamp: end.timestamp });
      await db.transaction((tx) => storeFeedPrices(tx, chainId, prices));
    }
    if (day === first) return;
    const number = (await firstBlockSince(day * SECONDS_PER_DAY, end, timeOf)) - 1;
    end = { number, timestamp: await timeOf(number) };
  }
}
