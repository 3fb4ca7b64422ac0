import type { Address, Hex } from "viem";
import { NodeFailure } from "../../chain/node/failure.ts";
import { APPROVAL, APPROVAL_FOR_ALL, type RawLog, type RawReceipt } from "../../chain/node/rpc-answers.ts";
import { readSnapshot } from "../../db/index-snapshot.ts";
import { mapLimited } from "../../net/map-limited.ts";
import { describeSignedPayments } from "./authorizations.ts";
import type { EnrichContext } from "./context.ts";
import { decodeLog } from "./decode-log.ts";
import {
  type IndexedBlock,
  type IndexedCall,
  type NativePayment,
  readIndexedBlocks,
} from "./enrich-reads.ts";
import {
  type BundleTransaction,
  bundleTransactionOf,
  describeExecutions,
  type Execution,
  receiptLogs,
  withPayments,
} from "./executions.ts";
import { approvalKey, concerns, type Followed, nativeTransfers } from "./log-rows.ts";
import { type MinedCall, type OwnCallRow, ownCallRow, unreadCallRow } from "./own-call.ts";
import { type IsOversized, orOversized } from "./read-receipts.ts";
import { planSampled, withRead } from "./sampled-blocks.ts";
import { marketPriceOf, type Tips } from "./sampling.ts";

type WantedCalls = {
  /** Whether the samples that end in the range are wanted as well. */
  readonly of: "chain" | "past";
  readonly from: number;
  readonly to: number;
  /** Own transactions, as the index holds them. */
  readonly calls: readonly IndexedCall[];
  readonly payments: readonly NativePayment[];
  readonly executions: readonly Execution[];
  /** Logs of authorizations that the wallets signed. */
  readonly authorizations: readonly RawLog[];
  /** Logs by topic of the wallets that are read for. */
  readonly logs: readonly RawLog[];
  /** Those of the wallets of which not every log is there. */
  readonly unread: ReadonlySet<Address>;
  readonly isOversized: IsOversized;
  /** Blocks of the index, at least those of calls, executions and authorizations. */
  readonly blocks: ReadonlyMap<number, IndexedBlock>;
  readonly wallets: Followed;
};

/**
 * Reads calls, executions and authorizations, and sampled blocks, without what no answer has room for; throws a NodeFailure if anything is
 * missing.
 */
export async function readCalls(context: EnrichContext, wanted: WantedCalls) {
  const { receipts, sampled, tips } = await readBlocks(context, wanted);
  const { crashes } = context;
  const own: SentCall[] = [];
  const sent: OwnCallRow[] = [];
  for (const call of wanted.calls) {
    const isLeftOut = crashes.isLeftOut(call.hash);
    const receipt = isLeftOut ? null : expected(receipts, call.hash);
    if (receipt === null && !isLeftOut) {
      context.metrics.leftOut.inc({ what: "receipt" });
      const text = "no answer has room for the receipt of an own call: it is kept without";
      context.logger.warn({ hash: call.hash }, text);
    }
    await crashes.decode(call.hash, () => {
      const found = { call, receipt, logs: receipt === null ? [] : receiptLogs(receipt) };
      own.push(found);
      sent.push(transactionRow(context, found, priceAt(context, wanted, { tips, block: call.block })));
    });
  }
  const executed = await readExecutions(context, wanted, { receipts, tips });
  const signed = await readSignedCalls(context, wanted, receipts);
  const calls = [...sent, ...executed.map(({ row }) => row), ...signed];
  return {
    calls,
    sampled,
    /** Native coin that moved. */
    payments: nativeTransfers(context.chainId, calls, wanted.payments),
    /** Logs of own calls that say something of a wallet and are not among those by topic, where that has no room for all. */
    extraLogs: extraLogs(own, wanted),
    /** Logs of approvals that accounts gave in executions, see `approvalKey`. */
    executedApprovals: new Set(executed.flatMap(({ approvals }) => approvals)),
  };
}

/** Each block once, however much of it is wanted. */
async function readBlocks(context: EnrichContext, wanted: WantedCalls) {
  const { db, chainId, rule, limits } = context;
  const { of, from, to, calls, executions, authorizations, isOversized } = wanted;
  const hashes = new Map<number, Set<Hex>>();
  const add = (block: number, hash: Hex) => hashes.set(block, (hashes.get(block) ?? new Set()).add(hash));
  for (const call of calls) add(call.block, call.hash);
  for (const { log } of executions) add(log.blockNumber, log.transactionHash);
  const priced = [...hashes.keys()];
  for (const log of authorizations) add(log.blockNumber, log.transactionHash);
  const samplesOf = of === "chain" ? { from, to } : null;
  const { unread, tips } = await planSampled(db, { chainId, rule, samplesOf, tipsOf: priced });
  const numbers = new Set([...hashes.keys(), ...unread]);
  if (numbers.size > limits.maxCallBlocks && to > from) {
    const most = `${limits.maxCallBlocks} blocks with calls or sampled`;
    throw new NodeFailure("too_many_results", `more than ${most} in blocks ${from} to ${to}`);
  }
  const heads = await readHeads(context, [...numbers], wanted.blocks);
  const sampledNumbers = new Set(unread);
  const read = await mapLimited([...numbers], limits.concurrency, async (number) => {
    const { hash, timestamp, baseFeeWei } = heads.get(number) ?? (await headAtNode(context, number));
    const inIt = { calls: [...(hashes.get(number) ?? [])], isSampled: sampledNumbers.has(number) };
    return context.readReceipts({ number, hash, timestamp, baseFeeWei, ...inIt }, isOversized);
  });
  const sampled = read.flatMap((block) => block.sampled ?? []);
  const receipts: ReadonlyMap<Hex, RawReceipt | null> = new Map(read.flatMap((block) => [...block.receipts]));
  return { receipts, sampled, tips: withRead(tips, sampled) };
}

/** Those of the blocks that the index has. */
async function readHeads(
  { db, chainId }: EnrichContext,
  numbers: readonly number[],
  known: ReadonlyMap<number, IndexedBlock>,
): Promise<ReadonlyMap<number, IndexedBlock>> {
  const others = numbers.filter((number) => !known.has(number));
  if (others.length === 0) return known;
  const read = await readSnapshot(db, (client) => readIndexedBlocks(client, chainId, others));
  return new Map([...known, ...read]);
}

/** A block of before the index began, whose successors the index was compared with. */
async function headAtNode({ client }: EnrichContext, number: number): Promise<IndexedBlock> {
  const header = await client.header(number);
  if (header === null || header.number !== number)
    throw new NodeFailure("node_behind", `the node has no block ${number}`);
  return { hash: header.hash, timestamp: header.timestamp, baseFeeWei: header.baseFeePerGas ?? null };
}

/** An own call with its logs; without a receipt none are known. */
type SentCall = { call: IndexedCall; receipt: RawReceipt | null; logs: readonly RawLog[] };

function transactionRow(
  { chainId, market }: EnrichContext,
  { call, receipt, logs }: SentCall,
  price: bigint | null,
): OwnCallRow {
  const mined: MinedCall = { ...call, position: 0, fee: call.gasUsed * call.gasPrice };
  const stored = { chainId, wrappedNative: market.wrappedNative, origin: "transaction" } as const;
  if (receipt === null) return unreadCallRow(mined, stored);
  const agrees =
    call.ok === (receipt.status === "0x1") &&
    call.gasUsed === receipt.gasUsed &&
    call.gasPrice === receipt.effectiveGasPrice &&
    call.wallet === receipt.from;
  if (!agrees)
    throw new NodeFailure("inconsistent", `the receipt of ${call.hash} is not what the index says`);
  return ownCallRow(mined, { logs, l1Fee: receipt.l1Fee ?? null, marketPrice: price }, stored);
}

async function readExecutions(
  context: EnrichContext,
  wanted: WantedCalls,
  known: { readonly receipts: ReadonlyMap<Hex, RawReceipt | null>; readonly tips: Tips },
) {
  const { chainId, market, limits, entryPoints, crashes, metrics, logger } = context;
  const carried = Map.groupBy(wanted.executions, ({ log }) => log.transactionHash);
  const rows = await mapLimited([...carried], limits.concurrency, async ([hash, executions]) => {
    const bundle = await readBundle(context, wanted, { hash, receipt: expected(known.receipts, hash) });
    if (bundle === null) return [];
    const described = await crashes.decode(hash, () => {
      const { calls, leftOut } = describeExecutions(executions, bundle, entryPoints);
      if (leftOut > 0) {
        metrics.leftOut.inc({ what: "execution" }, leftOut);
        logger.warn(
          { hash, leftOut },
          "executions of Safes share more logs in one transaction than are read",
        );
      }
      return calls;
    });
    const asking = described.filter(({ asked }) => asked !== null);
    const trace = asking.length === 0 ? null : await context.readTrace(hash, bundle);
    if (asking.length > 0 && trace === null) metrics.leftOut.inc({ what: "trace" });
    return crashes.decode(hash, () =>
      withPayments(described, trace).map(({ execution, call, asked: _, ...read }) => {
        const { timestamp } = indexedBlock(wanted.blocks, call.block);
        const marketPrice = priceAt(context, wanted, { tips: known.tips, block: call.block });
        const outcome = { ...read, l1Fee: null, marketPrice };
        const stored = { chainId, wrappedNative: market.wrappedNative, origin: execution.origin };
        const approvals = read.logs.filter(
          ({ topics: [event] }) => event === APPROVAL || event === APPROVAL_FOR_ALL,
        );
        return {
          row: ownCallRow({ ...call, timestamp }, outcome, stored),
          approvals: approvals.map((log) => approvalKey(call.wallet, log)),
        };
      }),
    );
  });
  return rows.flat();
}

async function readSignedCalls(
  context: EnrichContext,
  wanted: WantedCalls,
  receipts: ReadonlyMap<Hex, RawReceipt | null>,
): Promise<readonly OwnCallRow[]> {
  const { chainId, market, crashes } = context;
  const rows: OwnCallRow[] = [];
  const stored = { chainId, wrappedNative: market.wrappedNative, origin: "authorization" } as const;
  for (const [hash, known] of Map.groupBy(wanted.authorizations, (log) => log.transactionHash)) {
    const receipt = expected(receipts, hash);
    if (receipt === null) {
      leaveOutTransaction(context, hash, "what wallets paid by signature");
      continue;
    }
    await crashes.decode(hash, () => {
      const { timestamp } = indexedBlock(wanted.blocks, receipt.blockNumber);
      const about = { known, tokens: market.listed, timestamp };
      for (const { call, logs } of describeSignedPayments(receipt, about))
        rows.push(ownCallRow(call, { logs, l1Fee: null, marketPrice: null }, stored));
    });
  }
  return rows;
}

/** Null where no answer has room for it. */
async function readBundle(
  context: EnrichContext,
  { isOversized }: WantedCalls,
  { hash, receipt }: { readonly hash: Hex; readonly receipt: RawReceipt | null },
): Promise<BundleTransaction | null> {
  const ask = async (of: RawReceipt) => bundleTransactionOf(of, await context.client.transaction(hash));
  const bundle = receipt === null ? null : await orOversized(isOversized, () => ask(receipt));
  if (bundle === null) leaveOutTransaction(context, hash, "what accounts executed in it");
  return bundle;
}

function leaveOutTransaction({ metrics, logger }: EnrichContext, hash: Hex, what: string): void {
  metrics.leftOut.inc({ what: "carrier" });
  logger.warn({ hash }, `no answer has room for a transaction: ${what} is left out`);
}

function expected(receipts: ReadonlyMap<Hex, RawReceipt | null>, hash: Hex): RawReceipt | null {
  const receipt = receipts.get(hash);
  if (receipt === undefined) throw new NodeFailure("inconsistent", `no receipt of ${hash}`);
  return receipt;
}

/** Finds a node out that leaves out logs by topic; returns those of wallets whose logs by topic were not all read. */
function extraLogs(calls: readonly SentCall[], { logs, wallets, unread }: WantedCalls): readonly RawLog[] {
  const hashes = new Set(calls.map(({ call }) => call.hash));
  const found = new Set(logs.filter((log) => hashes.has(log.transactionHash)).map(contentOf));
  const read: Followed = new Map([...wallets].filter(([wallet]) => !unread.has(wallet)));
  return calls.flatMap(({ call, logs: own }) =>
    own.filter((log) => {
      const decoded = decodeLog(log);
      if (decoded === null || !concerns(decoded, call.block, wallets) || found.has(contentOf(log)))
        return false;
      if (!concerns(decoded, call.block, read)) return true;
      throw new NodeFailure("inconsistent", `a log of ${call.hash} is in its receipt and missing by topic`);
    }),
  );
}

function contentOf(log: RawLog): string {
  return [log.transactionHash, log.address, ...log.topics, log.data].join();
}

function priceAt(
  { rule }: EnrichContext,
  { blocks }: WantedCalls,
  { tips, block: number }: { readonly tips: Tips; readonly block: number },
): bigint | null {
  return marketPriceOf(rule, tips, { number, baseFeeWei: indexedBlock(blocks, number).baseFeeWei });
}

export function indexedBlock(blocks: ReadonlyMap<number, IndexedBlock>, number: number): IndexedBlock {
  const block = blocks.get(number);
  if (block === undefined) throw new NodeFailure("inconsistent", `the index has no block ${number}`);
  return block;
}
