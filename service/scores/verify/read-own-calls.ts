import { type Address, type Hex, pad } from "viem";
import type { SamplingRule } from "../../chain/deployments.ts";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { NodeFailure } from "../../chain/node/failure.ts";
import { AUTHORIZATION_USED, type RawReceipt, type RawTransaction } from "../../chain/node/rpc-answers.ts";
import { describeSignedPayments, findAuthorizations } from "../../ingest/enrich/authorizations.ts";
import {
  bundleTransactionOf,
  describeExecutions,
  findExecutions,
  receiptLogs,
  withPayments,
} from "../../ingest/enrich/executions.ts";
import { readFrames } from "../../ingest/enrich/native-payments.ts";
import { describeCall, medianTip } from "../../ingest/enrich/own-call.ts";
import { readLogs } from "../../ingest/enrich/read-logs.ts";
import { readBlockReceipts } from "../../ingest/enrich/read-receipts.ts";
import { marketPriceOf } from "../../ingest/enrich/sampling.ts";
import { stretchStart } from "../../ingest/enrich/stretches.ts";
import type { HistorySource } from "../../ingest/history/history.ts";
import { createHistoryReader, HISTORY_LIMITS } from "../../ingest/history/history-reader.ts";
import type { AsOf, OwnCall } from "../../model/features/types.ts";
import { mapLimited } from "../../net/map-limited.ts";

type NodeWallet = Search & {
  /** ERC-4337 entry points that are believed, and the wrapped native coin; lower-case. */
  readonly entryPoints: ReadonlySet<Address>;
  readonly wrappedNative: Address | null;
  /** Which block's tip the prices of a stretch have. */
  readonly rule: SamplingRule;
  /** Whether the service had no trace of an execution: then what it sent is unknown here as well. */
  readonly isUntraced: (place: Pick<OwnCall, "blockNumber" | "transactionIndex" | "position">) => boolean;
  /** Recognised tokens, whose logs of signed payments are believed; lower-case. */
  readonly tokens: ReadonlySet<Address>;
};

/** Blocks of one request for logs. */
const LOG_BLOCKS = 2_000;
const AT_ONCE = 4;
const LOGS = {
  limits: { maxWallets: 1, maxLogs: 100_000, concurrency: AT_ONCE },
  // Who verifies leaves nothing out.
  isOversized: async () => false,
  believed: { tokens: [], entryPoints: [] },
};

/**
 * Every call that a wallet made, its smart account executed or it signed as a payment, by a node alone, in any order; throws a
 * NodeFailure when the node does not report all of it.
 */
export async function readOwnCalls(
  client: ChainReader,
  find: FindOwnTransactions,
  wallet: NodeWallet,
): Promise<readonly OwnCall[]> {
  const blocks = blockReader(client, wallet.rule);
  const sent = await mapLimited(await find(wallet), AT_ONCE, async ({ hash, block: number }) => {
    const block = await blocks.read(number);
    const { receipt, transaction } = await readMined(client, block, hash);
    return sentCall(wallet, { block, receipt, transaction, marketPrice: await blocks.marketPrice(block) });
  });
  const executed = await readExecutions(client, blocks, wallet);
  return [...sent, ...executed, ...(await readSignedCalls(client, blocks, wallet))];
}

/** Reads every block once. The market price is in wei per gas; null where none is known. */
function blockReader(client: ChainReader, rule: SamplingRule) {
  const known = new Map<number, ReturnType<typeof readNodeBlock>>();
  const read = (number: number) => {
    const block = known.get(number) ?? readNodeBlock(client, number);
    known.set(number, block);
    return block;
  };
  const marketPrice = async (block: NodeBlock): Promise<bigint | null> => {
    const first = await read(stretchStart(rule, block.number));
    return marketPriceOf(rule, new Map([[first.number, first.tip]]), block);
  };
  return { read, marketPrice };
}

type NodeBlock = Awaited<ReturnType<typeof readNodeBlock>>;

async function readMined(client: ChainReader, block: NodeBlock, hash: Hex) {
  const transaction = await client.transaction(hash);
  const receipt = block.receipts.get(hash);
  if (receipt === undefined || transaction === null || transaction.blockHash !== receipt.blockHash) {
    throw new NodeFailure("inconsistent", `the node does not have ${hash} in block ${block.number}`);
  }
  return { receipt, transaction };
}

function sentCall(
  { wallet, wrappedNative }: NodeWallet,
  mined: {
    readonly block: NodeBlock;
    readonly receipt: RawReceipt;
    readonly transaction: RawTransaction;
    readonly marketPrice: bigint | null;
  },
): OwnCall {
  const { block, receipt, transaction, marketPrice } = mined;
  const { gasUsed, effectiveGasPrice } = receipt;
  const call = {
    hash: receipt.transactionHash,
    block: block.number,
    transactionIndex: receipt.transactionIndex,
    position: 0,
    timestamp: block.timestamp,
    wallet,
    to: transaction.to ?? null,
    input: transaction.input,
    value: transaction.value,
    ok: receipt.status === "0x1",
    gasLimit: transaction.gas,
    gasUsed,
    gasPrice: effectiveGasPrice,
    fee: gasUsed * effectiveGasPrice,
  };
  const outcome = { logs: receiptLogs(receipt), l1Fee: receipt.l1Fee ?? null, marketPrice };
  return describeCall(call, outcome, wrappedNative);
}

/** Reads the executions of the wallet's account in transactions of others; empty if it has no code. */
async function readExecutions(
  client: ChainReader,
  blocks: ReturnType<typeof blockReader>,
  { wallet, asOf, fromBlock, entryPoints, wrappedNative, isUntraced }: NodeWallet,
): Promise<readonly OwnCall[]> {
  if ((await client.code(wallet, "latest")) === "0x") return [];
  const calls: OwnCall[] = [];
  for (let from = fromBlock; from <= asOf.blockNumber; from += LOG_BLOCKS) {
    const to = Math.min(from + LOG_BLOCKS - 1, asOf.blockNumber);
    const { logs } = await readLogs(client, { from, to, wallets: [wallet] }, LOGS);
    const believed = { followed: new Map([[wallet, fromBlock]]), entryPoints };
    const { executions } = findExecutions(logs, believed);
    const places = new Map(executions.map(({ log }) => [log.transactionHash, log.blockNumber]));
    const byHash = Map.groupBy(executions, ({ log }) => log.transactionHash);
    for (const [hash, number] of places) {
      const block = await blocks.read(number);
      const marketPrice = await blocks.marketPrice(block);
      const { receipt, transaction } = await readMined(client, block, hash);
      const bundle = bundleTransactionOf(receipt, transaction);
      const carried = byHash.get(hash) ?? [];
      const described = describeExecutions(carried, bundle, entryPoints).calls;
      const untraced = new Set(
        described.map(({ call }) => call).filter((call) => isUntraced({ ...call, blockNumber: call.block })),
      );
      const isTraced = described.some(({ asked, call }) => asked !== null && !untraced.has(call));
      const trace = isTraced ? readFrames(await client.trace(hash)) : null;
      const known = withPayments(
        described.map((one) => (untraced.has(one.call) ? { ...one, asked: null } : one)),
        trace,
      );
      for (const { call, asked: _, ...rest } of known) {
        const outcome = { ...rest, l1Fee: null, marketPrice };
        calls.push(describeCall({ ...call, timestamp: block.timestamp }, outcome, wrappedNative));
      }
    }
  }
  return calls;
}

/** Reads the payments that the wallet signed and that others' transactions carried out. */
async function readSignedCalls(
  client: ChainReader,
  blocks: ReturnType<typeof blockReader>,
  { wallet, asOf, fromBlock, tokens, wrappedNative }: NodeWallet,
): Promise<readonly OwnCall[]> {
  if (tokens.size === 0) return [];
  const starts: number[] = [];
  for (let from = fromBlock; from <= asOf.blockNumber; from += LOG_BLOCKS) starts.push(from);
  const filter = { addresses: [...tokens], topics: [[AUTHORIZATION_USED], [pad(wallet)]] };
  const logs = await mapLimited(starts, AT_ONCE, (from) =>
    client.logs({ from, to: Math.min(from + LOG_BLOCKS - 1, asOf.blockNumber), ...filter }),
  );
  const followed = new Map([[wallet, fromBlock]]);
  const authorizations = findAuthorizations(logs.flat(), { followed, tokens });
  const byHash = Map.groupBy(authorizations, (log) => log.transactionHash);
  const calls = await mapLimited([...byHash], AT_ONCE, async ([hash, known]) => {
    const [{ blockNumber } = { blockNumber: 0 }] = known;
    const { receipts, timestamp } = await blocks.read(blockNumber);
    const receipt = receipts.get(hash);
    if (receipt === undefined)
      throw new NodeFailure("inconsistent", `the node does not have ${hash} in block ${blockNumber}`);
    return describeSignedPayments(receipt, { known, tokens, timestamp }).map(({ call, logs: own }) =>
      describeCall(call, { logs: own, l1Fee: null, marketPrice: null }, wrappedNative),
    );
  });
  return calls.flat();
}

type Search = {
  /** Lower-case. */
  readonly wallet: Address;
  readonly asOf: AsOf;
  /** First block to look at. */
  readonly fromBlock: number;
  /** Unix seconds of that block. */
  readonly fromTimestamp: number;
};

/** Every transaction that the wallet sent, from a block on up to the as-of block, in any order. */
export type FindOwnTransactions = (
  search: Search,
) => Promise<readonly { readonly hash: Hex; readonly block: number }[]>;

/** Most pages of one search. A verifier has more time than a caller of the API. */
const MOST_PAGES = 10_000;
const MOST_TRANSACTIONS = 1_000_000;
const LONGEST_MS = 3_600_000;
const BLOCKS_AT_ONCE = 8;

/** Asks a history source; throws when it fails, or when it does not reach back far enough. */
export function searchSource(source: HistorySource, now: () => number): FindOwnTransactions {
  return async ({ wallet, asOf, fromBlock, fromTimestamp }) => {
    const limits = {
      ...HISTORY_LIMITS,
      maxPages: MOST_PAGES,
      maxTransactions: MOST_TRANSACTIONS,
      maxCachedCalls: MOST_TRANSACTIONS,
      answerMs: LONGEST_MS,
      readMs: LONGEST_MS,
    };
    const reader = createHistoryReader({ source, now, limits });
    try {
      const edge = { kind: "since", timestamp: fromTimestamp } as const;
      const history = await reader.read({ wallet, asOf, edge });
      if (history.kind === "running") throw new Error(`${source.name} gave no answer within an hour`);
      if (history.kind === "failed") throw new Error(`${source.name}: ${history.detail}`);
      return history.calls
        .filter(({ blockNumber }) => blockNumber >= fromBlock)
        .map(({ hash, blockNumber }) => ({ hash, block: blockNumber }));
    } finally {
      await reader.close();
    }
  };
}

/** Reads the receipts of every block, for a node that cannot search; throws a NodeFailure when one is missing. */
export function scanBlocks(client: Pick<ChainReader, "blockReceipts">): FindOwnTransactions {
  return async ({ wallet, asOf, fromBlock }) => {
    // Genesis has no transactions. The block comes from a file of the service, which is not trusted.
    const first = Math.max(1, fromBlock);
    const numbers = Array.from({ length: asOf.blockNumber - first + 1 }, (_, at) => first + at);
    const found = await mapLimited(numbers, BLOCKS_AT_ONCE, async (block) => {
      const receipts = await client.blockReceipts(block);
      if (receipts === null)
        throw new NodeFailure("node_behind", `the node has no receipts of block ${block}`);
      return receipts
        .filter(({ from }) => from === wallet)
        .map(({ transactionHash }) => ({ hash: transactionHash, block }));
    });
    return found.flat();
  };
}

/** Reads a block and its receipts; throws a NodeFailure when the node does not hold both. The median tip is null if the block has no base fee or no tip. */
async function readNodeBlock(client: Pick<ChainReader, "header" | "blockReceipts">, number: number) {
  const [header, receipts] = await Promise.all([client.header(number), readBlockReceipts(client, number)]);
  if (header === null || receipts === null) {
    throw new NodeFailure("node_behind", `the node has no block ${number}`);
  }
  const { timestamp, baseFeePerGas: baseFeeWei = null } = header;
  const prices = receipts.map(({ effectiveGasPrice }) => effectiveGasPrice);
  return {
    number,
    timestamp,
    receipts: new Map(receipts.map((receipt) => [receipt.transactionHash, receipt])),
    baseFeeWei,
    tip: baseFeeWei === null ? null : medianTip(prices, baseFeeWei),
  };
}
