import type { Address, Hex } from "viem";
import { z } from "zod";
import type { IndexedBlock, IndexedCall, NativePayment } from "../store/enrich-reads.ts";
import type { EnrichRows } from "../store/enrich-writes.ts";
import type { EnrichContext } from "./context.ts";
import { decodeLog } from "./decode-log.ts";
import { describeExecution, type Execution } from "./executions.ts";
import { EnrichFailure } from "./failure.ts";
import { concerns, type Followed } from "./log-rows.ts";
import { mapLimited } from "./map-limited.ts";
import { medianTip } from "./median-tip.ts";
import { nativeTransfers } from "./native-transfers.ts";
import { type MinedCall, type OwnCallRow, ownCallRow } from "./own-call.ts";
import type { RawLog } from "./raw-log.ts";
import type { CallBlock } from "./read-receipts.ts";
import { logAnswer, type RawReceipt, type RawTransaction } from "./rpc-answers.ts";
import type { BlockCall } from "./strangers.ts";

export type WantedCalls = {
  readonly from: number;
  readonly to: number;
  /** Own transactions, as the index holds them. */
  readonly calls: readonly IndexedCall[];
  readonly payments: readonly NativePayment[];
  readonly executions: readonly Execution[];
  /** Logs by topic of the wallets that are read for. */
  readonly logs: readonly RawLog[];
  /** Blocks of the index, at least those of calls and executions. */
  readonly blocks: ReadonlyMap<number, IndexedBlock>;
  readonly wallets: Followed;
  readonly followed: Followed;
};

export type CallRows = Pick<EnrichRows, "calls" | "blocks"> & {
  /** Native coin that moved. */
  readonly payments: EnrichRows["transfers"];
  readonly blockCalls: readonly BlockCall[];
};

/** Reads the blocks in which wallets called or executed; throws an EnrichFailure when anything of them is missing or does not fit. */
export async function readCalls(context: EnrichContext, wanted: WantedCalls): Promise<CallRows> {
  const blocks = await readBlocks(context, wanted);
  const receipts = new Map(
    blocks.flatMap((block) => block.receipts.map((receipt) => [receipt.transactionHash, receipt] as const)),
  );
  const tips = new Map(blocks.map((block) => [block.number, tipOf(block, wanted.blocks)]));
  const own = wanted.calls.map((call) => ({ call, receipt: expected(receipts, call.hash) }));
  const found = own.map(({ call, receipt }) => ({ call, logs: logsOf(receipt), receipt }));
  requireWholeLogs(found, wanted);
  const sent = found.map(({ call, logs, receipt }) =>
    transactionRow(context, { call, logs, receipt, marketPrice: marketPrice(call.block, wanted, tips) }),
  );
  const executed = await readExecutions(context, wanted, { receipts, tips });
  const calls = [...sent, ...executed];
  return {
    calls,
    blocks: blocks.map((block) => blockRow(context.chainId, block, wanted.blocks, tips)),
    payments: nativeTransfers(context.chainId, calls, wanted.payments),
    blockCalls: blocks.flatMap((block) => othersOf(block, wanted)),
  };
}

type Receipts = ReadonlyMap<Hex, RawReceipt>;
type Tips = ReadonlyMap<number, bigint | null>;

function readBlocks(context: EnrichContext, wanted: WantedCalls): Promise<readonly CallBlock[]> {
  const { from, to, calls, executions } = wanted;
  const hashes = new Map<number, Set<Hex>>();
  const add = (block: number, hash: Hex) => hashes.set(block, (hashes.get(block) ?? new Set()).add(hash));
  for (const call of calls) add(call.block, call.hash);
  for (const { log } of executions) add(log.blockNumber, log.transactionHash);
  if (hashes.size > context.limits.maxCallBlocks && to > from) {
    const most = `${context.limits.maxCallBlocks} blocks with calls`;
    throw new EnrichFailure("too_many_results", `more than ${most} in blocks ${from} to ${to}`);
  }
  return mapLimited([...hashes], context.limits.concurrency, ([number, inIt]) => {
    const { hash, baseFeeWei } = indexedBlock(wanted.blocks, number);
    return context.readReceipts({ number, hash, baseFeeWei, calls: [...inIt] });
  });
}

function transactionRow(
  { chainId, market }: EnrichContext,
  sent: {
    readonly call: IndexedCall;
    readonly logs: readonly RawLog[];
    readonly receipt: RawReceipt;
    readonly marketPrice: bigint | null;
  },
): OwnCallRow {
  const { call, logs, receipt } = sent;
  const agrees =
    call.ok === (receipt.status === "0x1") &&
    call.gasUsed === receipt.gasUsed &&
    call.gasPrice === receipt.effectiveGasPrice &&
    call.wallet === receipt.from;
  if (!agrees)
    throw new EnrichFailure("inconsistent", `the receipt of ${call.hash} is not what the index says`);
  const mined: MinedCall = { ...call, position: 0, fee: call.gasUsed * call.gasPrice };
  const outcome = { logs, l1Fee: receipt.l1Fee ?? null, marketPrice: sent.marketPrice };
  return ownCallRow(mined, outcome, { chainId, wrappedNative: market.wrappedNative, origin: "transaction" });
}

async function readExecutions(
  context: EnrichContext,
  wanted: WantedCalls,
  known: { readonly receipts: Receipts; readonly tips: Tips },
): Promise<readonly OwnCallRow[]> {
  const { chainId, market, limits, client } = context;
  const hashes = [...new Set(wanted.executions.map(({ log }) => log.transactionHash))];
  const read = await mapLimited(hashes, limits.concurrency, async (hash) => {
    const receipt = expected(known.receipts, hash);
    return [hash, carrierOf(receipt, await client.transaction(hash))] as const;
  });
  const carriers = new Map(read);
  return wanted.executions.flatMap((execution) => {
    const { log, origin } = execution;
    const carrier = carriers.get(log.transactionHash);
    if (carrier === undefined || !carrier.logs.some((one) => one.logIndex === log.logIndex))
      throw new EnrichFailure("inconsistent", `a log of ${log.transactionHash} is not in its receipt`);
    const { timestamp } = indexedBlock(wanted.blocks, log.blockNumber);
    const executed = describeExecution(execution, carrier, timestamp);
    if (executed === null) return [];
    const price = marketPrice(log.blockNumber, wanted, known.tips);
    const outcome = { logs: executed.logs, l1Fee: null, marketPrice: price };
    return [ownCallRow(executed.call, outcome, { chainId, wrappedNative: market.wrappedNative, origin })];
  });
}

function carrierOf(receipt: RawReceipt, transaction: RawTransaction | null) {
  const fits =
    transaction?.hash === receipt.transactionHash &&
    transaction.blockHash === receipt.blockHash &&
    transaction.transactionIndex === receipt.transactionIndex;
  if (!fits)
    throw new EnrichFailure(
      "inconsistent",
      `${receipt.transactionHash} has a receipt and is not itself there`,
    );
  return {
    index: receipt.transactionIndex,
    to: transaction.to ?? null,
    input: transaction.input,
    gasLimit: transaction.gas,
    gasUsed: receipt.gasUsed,
    gasPrice: receipt.effectiveGasPrice,
    logs: logsOf(receipt),
  };
}

function expected(receipts: Receipts, hash: Hex): RawReceipt {
  const receipt = receipts.get(hash);
  if (receipt === undefined) throw new EnrichFailure("inconsistent", `no receipt of ${hash}`);
  return receipt;
}

function logsOf(receipt: RawReceipt): readonly RawLog[] {
  const logs = z.array(logAnswer).safeParse(receipt.logs);
  if (!logs.success)
    throw new EnrichFailure("garbage", `the receipt of ${receipt.transactionHash} has no readable logs`);
  return logs.data;
}

/** Logs of own calls come twice, by receipt and by topic: a node that leaves out some of the latter is found out here. */
function requireWholeLogs(
  calls: readonly { readonly call: IndexedCall; readonly logs: readonly RawLog[] }[],
  { logs, wallets }: WantedCalls,
): void {
  const found = new Set(logs.map(contentOf));
  for (const { call, logs: own } of calls) {
    for (const log of own) {
      const decoded = decodeLog(log);
      if (decoded === null || !concerns(decoded, call.block, wallets) || found.has(contentOf(log))) continue;
      throw new EnrichFailure("inconsistent", `a log of ${call.hash} is in its receipt and missing by topic`);
    }
  }
}

function contentOf(log: RawLog): string {
  return [log.transactionHash, log.address, ...log.topics, log.data].join();
}

function tipOf({ number, gasPrices }: CallBlock, blocks: WantedCalls["blocks"]): bigint | null {
  const { baseFeeWei } = indexedBlock(blocks, number);
  return baseFeeWei === null ? null : medianTip(gasPrices, baseFeeWei);
}

/** Base fee and median tip. */
function marketPrice(block: number, { blocks }: WantedCalls, tips: Tips): bigint | null {
  const { baseFeeWei } = indexedBlock(blocks, block);
  const tip = tips.get(block) ?? null;
  return baseFeeWei === null || tip === null ? null : baseFeeWei + tip;
}

function blockRow(
  chainId: number,
  { number, gasPrices, source }: CallBlock,
  blocks: WantedCalls["blocks"],
  tips: Tips,
): EnrichRows["blocks"][number] {
  const { hash, timestamp, baseFeeWei } = indexedBlock(blocks, number);
  const medianTipWei = tips.get(number) ?? null;
  return {
    ...{ chainId, block: number, hash, timestamp, baseFeeWei, medianTipWei },
    transactions: gasPrices.length,
    source,
  };
}

/** Transactions of the block that no followed wallet sent. */
function othersOf({ number, seen }: CallBlock, { blocks, followed }: WantedCalls): readonly BlockCall[] {
  const { timestamp } = indexedBlock(blocks, number);
  const isFollowed = (account: Address) => {
    const since = followed.get(account);
    return since !== undefined && since <= number;
  };
  return seen.filter(({ from }) => !isFollowed(from)).map((call) => ({ ...call, block: number, timestamp }));
}

function indexedBlock(blocks: ReadonlyMap<number, IndexedBlock>, number: number): IndexedBlock {
  const block = blocks.get(number);
  if (block === undefined) throw new EnrichFailure("inconsistent", `the index has no block ${number}`);
  return block;
}
