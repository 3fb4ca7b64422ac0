import type { Hex } from "viem";
import { z } from "zod";
import {
  type EnrichCursor,
  type IndexedBlock,
  type RangeCalls,
  readIndexedBlocks,
  readOwnSenders,
  readRangeCalls,
} from "../store/enrich-reads.ts";
import { type Advance, commitEnriched, type EnrichRows } from "../store/enrich-writes.ts";
import { readSnapshot } from "../store/index-snapshot.ts";
import { type CallReceipt, callRow } from "./call-row.ts";
import type { EnrichContext } from "./context.ts";
import { decodeLog } from "./decode-log.ts";
import { EnrichFailure } from "./failure.ts";
import { concerns, type Followed, logRows } from "./log-rows.ts";
import { mapLimited } from "./map-limited.ts";
import { medianTip } from "./median-tip.ts";
import type { RawLog } from "./raw-log.ts";
import { readLogs } from "./read-logs.ts";
import type { CallBlock } from "./read-receipts.ts";
import { logAnswer } from "./rpc-answers.ts";

export type EnrichTask = {
  /** What the range finishes: a stretch of the chain for every wallet, or of the past of some. */
  readonly of: "chain" | "past";
  /** First and last block, both included; the last must be finalized in the index. */
  readonly from: number;
  readonly to: number;
  /** Wallets to read for, each from its own first block on. */
  readonly wallets: Followed;
  readonly cursor: EnrichCursor | null;
  /** Generation of the chain's mark under which the task was made. */
  readonly generation: string;
};

/** to: the last block read, which may come before the one asked for. stored: false when it was outdated meanwhile. */
export type EnrichOutcome = { readonly to: number; readonly stored: boolean };

/**
 * Reads one range for the given wallets and stores it with the cursor in one transaction. Throws an EnrichFailure, and
 * stores nothing, when the node does not give all of it, or when what it gives does not fit to the index.
 */
export async function enrichRange(context: EnrichContext, task: EnrichTask): Promise<EnrichOutcome> {
  const wanted = await readWanted(context, task);
  const { to, hash } = wanted;
  await requireSameChain(context, task, { block: to, hash });
  const blocks = await readCallBlocks(context, wanted);
  const range = { from: task.from, to, wallets: [...task.wallets.keys()] };
  const logs = await readLogs(context.client, range, context.limits);
  const receipts = callReceipts(wanted, blocks);
  requireWholeLogs(receipts, logs, task.wallets);
  const rows = {
    calls: receipts.map((receipt) => callRow(context.chainId, receipt, wanted.creations)),
    blocks: blockRows(context.chainId, blocks, wanted.blocks),
    ...(await readLogRows(context, task.wallets, logs)),
  };
  return { to, stored: await store(context, task, { cursor: { block: to, hash }, rows }) };
}

type Wanted = RangeCalls & { readonly hash: Hex; readonly blocks: ReadonlyMap<number, IndexedBlock> };

/** What the index has of the range. */
async function readWanted({ db, schema, limits }: EnrichContext, task: EnrichTask): Promise<Wanted> {
  const wallets = [...task.wallets.keys()];
  const range = { schema, from: task.from, to: task.to, wallets, maxCallBlocks: limits.maxCallBlocks };
  return readSnapshot(db, async (client) => {
    const calls = await readRangeCalls(client, range);
    const numbers = new Set([calls.to, ...calls.calls.map((call) => call.block)]);
    const blocks = await readIndexedBlocks(client, schema, [...numbers]);
    return { ...calls, blocks, hash: indexedBlock(blocks, calls.to).hash };
  });
}

function indexedBlock(blocks: ReadonlyMap<number, IndexedBlock>, number: number): IndexedBlock {
  const block = blocks.get(number);
  if (block === undefined) throw new EnrichFailure("inconsistent", `the index has no block ${number}`);
  return block;
}

/** The node must hold the end of the range, or it would answer for blocks it does not know, and stand where the cursor stands. */
async function requireSameChain(
  { client }: EnrichContext,
  task: EnrichTask,
  end: EnrichCursor,
): Promise<void> {
  for (const known of task.cursor === null ? [end] : [task.cursor, end]) {
    const header = await client.header(known.block);
    if (header === null) throw new EnrichFailure("node_behind", `the node has no block ${known.block}`);
    if (header.number === known.block && header.hash === known.hash) continue;
    throw new EnrichFailure(
      "other_chain",
      `block ${known.block} is ${known.hash} here and ${header.hash} at the node`,
    );
  }
}

function readCallBlocks(context: EnrichContext, wanted: Wanted): Promise<readonly CallBlock[]> {
  const byBlock = Map.groupBy(wanted.calls, (call) => call.block);
  return mapLimited([...byBlock], context.limits.concurrency, ([number, calls]) => {
    const { hash, baseFeeWei } = indexedBlock(wanted.blocks, number);
    return context.readReceipts({ number, hash, baseFeeWei, calls: calls.map((call) => call.hash) });
  });
}

function callReceipts(wanted: Wanted, blocks: readonly CallBlock[]): readonly CallReceipt[] {
  const receipts = new Map(
    blocks.flatMap((block) => block.receipts.map((receipt) => [receipt.transactionHash, receipt] as const)),
  );
  return wanted.calls.map((call) => {
    const receipt = receipts.get(call.hash);
    const logs = z.array(logAnswer).safeParse(receipt?.logs);
    if (receipt === undefined || !logs.success)
      throw new EnrichFailure("garbage", `the receipt of ${call.hash} has no readable logs`);
    return { call, l1FeeWei: receipt.l1Fee ?? null, logs: logs.data };
  });
}

/** Logs of own calls come twice, by receipt and by topic: a node that leaves out some of the latter is found out here. */
function requireWholeLogs(
  receipts: readonly CallReceipt[],
  logs: readonly RawLog[],
  followed: Followed,
): void {
  const found = new Set(logs.map(contentOf));
  for (const { call, logs: own } of receipts) {
    for (const log of own) {
      const decoded = decodeLog(log);
      if (decoded === null || !concerns(decoded, call.block, followed) || found.has(contentOf(log))) continue;
      throw new EnrichFailure("inconsistent", `a log of ${call.hash} is in its receipt and missing by topic`);
    }
  }
}

function contentOf(log: RawLog): string {
  return [log.transactionHash, log.address, ...log.topics, log.data].join();
}

function blockRows(
  chainId: number,
  read: readonly CallBlock[],
  blocks: ReadonlyMap<number, IndexedBlock>,
): EnrichRows["blocks"] {
  return read.map(({ number, gasPrices, source }) => {
    const { hash, timestamp, baseFeeWei } = indexedBlock(blocks, number);
    const medianTipWei = baseFeeWei === null ? null : medianTip(gasPrices, baseFeeWei);
    return {
      ...{ chainId, block: number, hash, timestamp, baseFeeWei, medianTipWei },
      transactions: gasPrices.length,
      source,
    };
  });
}

async function readLogRows(context: EnrichContext, followed: Followed, logs: readonly RawLog[]) {
  const { db, schema, chainId } = context;
  const numbers = [...new Set(logs.map((log) => log.blockNumber))];
  const hashes = [...new Set(logs.map((log) => log.transactionHash))];
  const [blocks, senders] = await readSnapshot(db, async (client) => [
    await readIndexedBlocks(client, schema, numbers),
    await readOwnSenders(client, schema, hashes),
  ]);
  return logRows({ chainId, logs, followed, blocks, senders });
}

async function store(
  { db, chainId, metrics }: EnrichContext,
  task: EnrichTask,
  done: { readonly cursor: EnrichCursor; readonly rows: EnrichRows },
): Promise<boolean> {
  const advance = advanceOf(task, done.cursor);
  const result = await commitEnriched(db, { chainId, generation: task.generation, rows: done.rows, advance });
  if (!result.stored) return false;
  for (const [table, count] of Object.entries(result.rows)) metrics.rows.inc({ table }, count);
  return true;
}

function advanceOf(task: EnrichTask, cursor: EnrichCursor): Advance {
  if (task.of === "past") {
    return {
      of: "past",
      from: task.from,
      to: cursor.block,
      wallets: [...task.wallets.keys()],
    };
  }
  const joined = [...task.wallets]
    .filter(([, since]) => since >= task.from && since <= cursor.block)
    .map(([wallet, fromBlock]) => ({ wallet, fromBlock }));
  return { of: "chain", previous: task.cursor, cursor, joined };
}
