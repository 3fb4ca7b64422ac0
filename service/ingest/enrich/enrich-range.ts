import type { Address, Hex } from "viem";
import { NodeFailure } from "../../chain/node/failure.ts";
import type { RawLog } from "../../chain/node/rpc-answers.ts";
import { readSnapshot } from "../../db/index-snapshot.ts";
import type { BlockRange } from "../history/batch-source.ts";
import { findAuthorizations } from "./authorizations.ts";
import { type Commit, commitRange } from "./commit-range.ts";
import type { EnrichContext } from "./context.ts";
import {
  type EnrichCursor,
  type IndexedBlock,
  type IndexedCall,
  type NativePayment,
  readIndexedBlocks,
  readKnownCreations,
  readOwnSenders,
  readRangeCalls,
} from "./enrich-reads.ts";
import type { Advance, EnrichRows } from "./enrich-writes.ts";
import { findExecutions } from "./executions.ts";
import { boundApprovals, boundTransfers, type Followed, type LogFacts, logRows } from "./log-rows.ts";
import { readAnswers, readDailyPrices } from "./prices.ts";
import { indexedBlock, readCalls } from "./read-calls.ts";
import { readChangedDelegations } from "./read-delegations.ts";
import { inOrder, readLogs } from "./read-logs.ts";
import { createOversizeTest, type IsOversized, orOversized } from "./read-receipts.ts";

import { readsWhole, readWholeBlocks, WHOLE_BLOCKS, type WholeRange } from "./whole-blocks.ts";

export type EnrichTask = {
  /** Whether the range finishes a stretch of the chain for every wallet, or of the past of some. */
  readonly of: "chain" | "past";
  /** First and last block, both included; the last must be finalized in the index. */
  readonly from: number;
  readonly to: number;
  /** Wallets to read for, each from its own first block on. */
  readonly wallets: Followed;
  /** Newest finalized block of the index. */
  readonly finalizedBlock: number;
  readonly cursor: EnrichCursor | null;
  /** Generation of the chain's mark under which the task was made. */
  readonly generation: string;
  /** Whether the range, of one block, timed out so often that what times out again is left out. */
  readonly isStuck: boolean;
};

/**
 * Reads one range and stores it with the cursor in one transaction; parts of a single block that are too large are left out.
 * Returns the last block read, which may come before the one asked for; if it does for the number of logs, also about how many
 * blocks the next range has room for. Null if the range was outdated meanwhile. Throws a NodeFailure, and stores nothing, when the
 * node's answers are incomplete or contradict the index.
 */
export async function enrichRange(
  context: EnrichContext,
  task: EnrichTask,
): Promise<{ readonly to: number; readonly nextBlocks: number | null } | null> {
  const planned = await readWanted(context, task);
  await requireSameChain(context, task, cursorAt(planned));
  const isOversized = createOversizeTest(context.client, { block: planned.to, isStuck: task.isStuck });
  const { to, nextBlocks, logs, unread, signers } = await readRangeLogs(
    context,
    { ...task, to: planned.to },
    isOversized,
  );
  const isCut = to < planned.to;
  const wanted = isCut ? await readWanted(context, { ...task, to }) : planned;
  const cursor = cursorAt(wanted);
  if (isCut) await requireSameChain(context, task, cursor);
  const range = { from: task.from, to, wallets: [...task.wallets.keys()], endTime: wanted.end.timestamp };
  const answers = await readAnswers(context, range);
  const { blocks, senders } = await readLogBlocks(context, wanted, [...logs, ...answers]);
  const prices = await readDailyPrices(context, range, { logs: answers, blocks });
  const delegations = await readDelegations(context, task, { ...range, calls: wanted.calls, signers });
  const { of, wallets, generation } = task;
  const isStored = await storeFound(context, {
    ...wanted,
    of,
    from: task.from,
    wallets,
    generation,
    advance: advanceOf(context, task, cursor),
    late: [],
    blocks,
    senders,
    logs,
    unread,
    isOversized,
    prices,
    delegations: delegations.rows,
  });
  if (!isStored) return null;
  delegations.settle();
  return { to, nextBlocks };
}

/** A range's transactions and logs of its wallets before they are decoded, from the index or a batch source. */
export type FoundRange = Pick<EnrichTask, "of" | "from" | "to" | "wallets" | "generation"> &
  Pick<LogFacts, "blocks" | "senders"> &
  Pick<Commit, "advance" | "creations" | "late" | "prices"> & {
    /** Transactions of the wallets. */
    readonly calls: readonly IndexedCall[];
    readonly payments: readonly NativePayment[];
    /** By topic. */
    readonly logs: readonly RawLog[];
    /** Wallets of which not every log is among them. */
    readonly unread: ReadonlySet<Address>;
    readonly isOversized: IsOversized;
    readonly delegations: EnrichRows["delegations"];
  };

/** Decodes what was found of a range and stores it; false if it was outdated meanwhile. Throws a NodeFailure where receipts contradict it. */
export async function storeFound(context: EnrichContext, found: FoundRange): Promise<boolean> {
  const { chainId, db, market, rule, entryPoints, crashes, metrics } = context;
  const { from, to, wallets, blocks, senders, prices, generation, advance, creations, late } = found;
  const logs = found.logs.filter(({ transactionHash }) => !crashes.isLeftOut(transactionHash));
  const { executions, dropped } = findExecutions(logs, { followed: wallets, entryPoints });
  const authorizations = findAuthorizations(logs, { followed: wallets, tokens: market.listed });
  const read = await readCalls(context, { ...found, logs, executions, authorizations });
  const claims = await boundClaims(context, wallets, { logs, blocks, senders, read });
  const result = await commitRange(db, {
    chainId,
    generation,
    market,
    rule,
    prices,
    advance,
    creations,
    late,
    sampled: read.sampled,
    rows: {
      calls: read.calls,
      ...claims.rows,
      delegations: found.delegations,
      creations: creationFacts(chainId, creations, { from, to }),
    },
  });
  if (result === null) return false;
  context.progress.commits += 1;
  for (const [table, count] of Object.entries(result.rows)) metrics.rows.inc({ table }, count);
  const hashes = new Set([
    ...found.logs.map((log) => log.transactionHash),
    ...found.calls.map(({ hash }) => hash),
  ]);
  const { leftOut } = result;
  countLeftOut(
    context,
    { from, to },
    {
      transactions: [...hashes].filter(crashes.isLeftOut),
      unread: [...found.unread],
      dropped,
      named: { ...leftOut, ...claims.leftOut, approval: claims.leftOut.approval + leftOut.approval },
    },
  );
  return true;
}

function cursorAt({ to: block, end: { hash } }: Awaited<ReturnType<typeof readWanted>>): EnrichCursor {
  return { block, hash };
}

/** Whether the blocks of a range of the chain are read whole, which costs less for many wallets. */
export function readsWholeRange(
  { limits, node }: EnrichContext,
  { from, to, wallets }: Pick<EnrichTask, "from" | "to" | "wallets">,
): boolean {
  const blocks = to - from + 1;
  return node.hasBlockReceipts && readsWhole(limits, { wallets: wallets.size, blocks });
}

async function readRangeLogs(
  context: EnrichContext,
  range: Pick<EnrichTask, "of" | "from" | "to" | "wallets">,
  isOversized: IsOversized,
): Promise<Awaited<ReturnType<typeof readLogs>> & Pick<WholeRange, "signers">> {
  const { client, limits, market, node, entryPoints } = context;
  const { of, from, to, wallets } = range;
  if (of === "chain" && to - from < WHOLE_BLOCKS && readsWholeRange(context, range)) {
    const parties = { wallets, tokens: market.listed, entryPoints };
    const ask = () => readWholeBlocks(client, { from, to, ...parties }, limits);
    try {
      // A block that is too large by itself is read by topic.
      const whole = from === to ? await orOversized(isOversized, ask) : await ask();
      if (whole !== null) return { ...whole, to, nextBlocks: null, unread: new Set() };
    } catch (error) {
      if (!(error instanceof NodeFailure) || error.kind !== "method_missing") throw error;
      node.hasBlockReceipts = false;
    }
  }
  const believed = { tokens: [...market.listed], entryPoints: [...entryPoints] };
  const asked = { from, to, wallets: [...wallets.keys()] };
  return { ...(await readLogs(client, asked, { limits, isOversized, believed })), signers: null };
}

/** The rows of what logs say of the wallets, as many as are kept. */
async function boundClaims(
  { chainId, market: { listed }, entryPoints, crashes }: EnrichContext,
  followed: Followed,
  {
    read,
    ...found
  }: Pick<LogFacts, "logs" | "blocks" | "senders"> & { readonly read: Awaited<ReturnType<typeof readCalls>> },
) {
  const logs = inOrder([...found.logs, ...read.extraLogs]);
  const facts = { ...found, chainId, followed, executedApprovals: read.executedApprovals, entryPoints };
  const rows: ReturnType<typeof logRows>[] = [];
  // One transaction after the other.
  for (const [hash, own] of Map.groupBy(logs, (log) => log.transactionHash))
    rows.push(await crashes.decode(hash, () => logRows({ ...facts, logs: own })));
  const moved = [...rows.flatMap((row) => row.transfers), ...read.payments];
  const isOwn = ownershipOf(read.calls, found.senders);
  const transfers = boundTransfers(moved, { followed, listed, isOwn });
  const approvals = boundApprovals(
    rows.flatMap((row) => row.approvals),
    listed,
  );
  const itemsLeftOut = rows.reduce((sum, { batchItemsLeftOut }) => sum + batchItemsLeftOut, 0);
  return {
    rows: {
      transfers: transfers.stored,
      approvals: approvals.stored,
      userOperations: rows.flatMap((row) => row.userOperations),
    },
    leftOut: { transfer: transfers.leftOut + itemsLeftOut, approval: approvals.leftOut },
  };
}

/**
 * Which transactions are own calls of which wallets: those that they sent, and those in which their accounts executed. Who signed a
 * payment does not decide what else is in its transaction.
 */
function ownershipOf(calls: EnrichRows["calls"], senders: ReadonlyMap<Hex, Address>) {
  const acted = calls.filter(({ origin }) => origin !== "authorization");
  const own = new Set(acted.map(({ wallet, hash }) => `${wallet} ${hash}`));
  for (const [hash, sender] of senders) own.add(`${sender} ${hash}`);
  return (wallet: Address, transactionHash: Hex) => own.has(`${wallet} ${transactionHash}`);
}

function countLeftOut(
  { metrics, logger }: EnrichContext,
  { from, to: block }: { readonly from: number; readonly to: number },
  left: {
    /** Transactions that ended processes. */
    readonly transactions: readonly Hex[];
    /** Wallets of which not every log was read. */
    readonly unread: readonly Address[];
    /** Executions. */
    readonly dropped: number;
    /** Counts of items that logs name beyond the number that is stored. */
    readonly named: Readonly<Record<"transfer" | "approval" | "account" | "payer", number>>;
  },
): void {
  const { transactions, unread, dropped, named } = left;
  const counts = { transaction: transactions.length, logs: unread.length, execution: dropped, ...named };
  for (const [what, count] of Object.entries(counts)) metrics.leftOut.inc({ what }, count);
  if (transactions.length > 0)
    logger.error({ block, transactions }, "processes died of transactions: what is in them is left out");
  if (Object.values(named).some((count) => count > 0))
    logger.warn({ from, to: block, ...named }, "logs name more of wallets than is kept");
  if (unread.length > 0)
    logger.warn({ block, wallets: unread }, "no answer has room for the logs of some wallets in a block");
  if (dropped > 0) logger.warn({ block, dropped }, "accounts executed more in one transaction than is kept");
}

/** Reads the index's rows of the range. */
async function readWanted({ db, chainId, limits, rule }: EnrichContext, task: EnrichTask) {
  const wallets = [...task.wallets.keys()];
  const { of, from, to } = task;
  const range = { chainId, of, from, to, wallets, rule, maxCallBlocks: limits.maxCallBlocks };
  return readSnapshot(db, async (client) => {
    const calls = await readRangeCalls(client, range);
    const callers = calls.calls.map(({ wallet }) => wallet);
    const known = await readKnownCreations(client, { chainId, wallets: callers });
    const numbers = new Set([calls.to, ...calls.calls.map((call) => call.block)]);
    const blocks = await readIndexedBlocks(client, chainId, [...numbers]);
    const creations = [...known, ...calls.creations];
    return { ...calls, creations, blocks, end: indexedBlock(blocks, calls.to) };
  });
}

/** Checks that the node has the last block of the range and the block of the cursor. */
async function requireSameChain({ client }: EnrichContext, task: EnrichTask, end: EnrichCursor) {
  for (const known of task.cursor === null ? [end] : [task.cursor, end]) {
    const header = await client.header(known.block);
    if (header === null) throw new NodeFailure("node_behind", `the node has no block ${known.block}`);
    if (header.number === known.block && header.hash === known.hash) continue;
    const text = `block ${known.block} is ${known.hash} here and ${header.hash} at the node`;
    throw new NodeFailure("other_chain", text);
  }
}

/** The index's blocks of calls and logs, and which logs are of own calls. */
async function readLogBlocks(
  { db, chainId }: EnrichContext,
  wanted: Awaited<ReturnType<typeof readWanted>>,
  logs: readonly RawLog[],
) {
  const numbers = [...new Set(logs.map((log) => log.blockNumber))];
  const hashes = [...new Set(logs.map((log) => log.transactionHash))];
  return readSnapshot(db, async (client) => ({
    blocks: new Map<number, IndexedBlock>([
      ...wanted.blocks,
      ...(await readIndexedBlocks(client, chainId, numbers)),
    ]),
    senders: new Map<Hex, Address>([
      ...(await readOwnSenders(client, chainId, hashes)),
      ...wanted.calls.map(({ hash, wallet }) => [hash, wallet] as const),
    ]),
  }));
}

/** Read only where the chain is caught up with: what wallets delegated to at older blocks is not asked for. */
async function readDelegations(
  context: EnrichContext,
  task: EnrichTask,
  {
    calls,
    signers,
    ...range
  }: {
    to: number;
    endTime: number;
    calls: readonly { readonly wallet: Address }[];
    /** Wallets that signed a delegation; null if that is not known. */
    signers: WholeRange["signers"];
  },
): ReturnType<typeof readChangedDelegations> {
  const { called, signed } = context.delegations;
  if (signers === null) for (const { wallet } of calls) called.add(wallet);
  else for (const wallet of signers) signed.add(wallet);
  if (task.of !== "chain" || range.to !== task.finalizedBlock) return { rows: [], settle: () => undefined };
  const wallets = [...task.wallets.keys()];
  return readChangedDelegations(context, { ...range, wallets, areSignersKnown: signers !== null });
}

/** Facts about contracts that own calls of the range created. */
function creationFacts(chainId: number, creations: Commit["creations"], { from, to }: BlockRange) {
  return creations
    .filter(({ block }) => block >= from && block <= to)
    .map(({ contract, wallet, block, timestamp }) => ({
      chainId,
      address: contract,
      hasCode: true,
      creator: wallet,
      firstFunder: null,
      existedBlock: block,
      existedAt: timestamp,
      source: "index",
      readBlock: block,
    }));
}

function advanceOf({ chainId, warms }: EnrichContext, task: EnrichTask, cursor: EnrichCursor): Advance {
  if (task.of === "past") return { of: "past", to: cursor.block, wallets: task.wallets };
  const joined = [...task.wallets]
    .filter(([, since]) => since >= task.from && since <= cursor.block)
    .map(([wallet, fromBlock]) => ({ chainId, wallet, fromBlock, warmOpen: warms && fromBlock > 1 }));
  return { of: "chain", previous: task.cursor, cursor, joined };
}
