import type { Address, Hex } from "viem";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { EnrichFailure } from "../../chain/node/failure.ts";
import type { RawReceipt, RawTransaction } from "../../chain/node/rpc-answers.ts";
import { carrierOf, receiptLogs } from "../../ingest/enrich/carrier.ts";
import { describeExecutions } from "../../ingest/enrich/executions.ts";
import { findExecutions } from "../../ingest/enrich/find-executions.ts";
import { describeCall } from "../../ingest/enrich/own-call.ts";
import { readLogs } from "../../ingest/enrich/read-logs.ts";
import type { OwnCall } from "../../model/features/types.ts";
import { mapLimited } from "../../net/map-limited.ts";
import type { FindOwnTransactions, Search } from "./find-own-transactions.ts";
import { type NodeBlock, readNodeBlock } from "./node-block.ts";

export type NodeWallet = Search & {
  /** ERC-4337 entry points that are believed, and the wrapped native coin; lower-case. */
  readonly entryPoints: ReadonlySet<Address>;
  readonly wrappedNative: Address | null;
};

/** Blocks of one request for logs. */
const LOG_BLOCKS = 2_000;
const AT_ONCE = 4;
const LOGS = {
  limits: {
    maxBlocks: LOG_BLOCKS,
    maxWallets: 1,
    maxLogs: 100_000,
    maxCallBlocks: LOG_BLOCKS,
    concurrency: AT_ONCE,
  },
  // Who verifies leaves nothing out.
  isOversized: async () => false,
  believed: { tokens: [], entryPoints: [] },
};

/**
 * Every call that a wallet made or its smart account executed, by a node alone, in any order; throws an EnrichFailure when
 * the node does not tell all of it.
 */
export async function readOwnCalls(
  client: ChainReader,
  find: FindOwnTransactions,
  wallet: NodeWallet,
): Promise<readonly OwnCall[]> {
  const blocks = blockReader(client);
  const sent = await mapLimited(await find(wallet), AT_ONCE, async ({ hash, block: number }) => {
    const block = await blocks(number);
    const { receipt, transaction } = await readMined(client, block, hash);
    return sentCall(wallet, { block, receipt, transaction });
  });
  return [...sent, ...(await readExecutions(client, blocks, wallet))];
}

type ReadBlock = (number: number) => Promise<NodeBlock>;

/** Reads every block once. */
function blockReader(client: ChainReader): ReadBlock {
  const known = new Map<number, Promise<NodeBlock>>();
  return (number) => {
    const block = known.get(number) ?? readNodeBlock(client, number);
    known.set(number, block);
    return block;
  };
}

type Mined = { readonly receipt: RawReceipt; readonly transaction: RawTransaction };

async function readMined(client: ChainReader, block: NodeBlock, hash: Hex): Promise<Mined> {
  const transaction = await client.transaction(hash);
  const receipt = block.receipts.get(hash);
  if (receipt === undefined || transaction === null || transaction.blockHash !== receipt.blockHash) {
    throw new EnrichFailure("inconsistent", `the node does not have ${hash} in block ${block.number}`);
  }
  return { receipt, transaction };
}

function sentCall(
  { wallet, wrappedNative }: NodeWallet,
  { block, receipt, transaction }: Mined & { readonly block: NodeBlock },
): OwnCall {
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
  const outcome = {
    logs: receiptLogs(receipt),
    l1Fee: receipt.l1Fee ?? null,
    marketPrice: block.marketPrice,
  };
  return describeCall(call, outcome, wrappedNative);
}

/** What the wallet's account executed in transactions of others; nothing where it has no code. */
async function readExecutions(
  client: ChainReader,
  blocks: ReadBlock,
  { wallet, asOf, fromBlock, entryPoints, wrappedNative }: NodeWallet,
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
      const block = await blocks(number);
      const { receipt, transaction } = await readMined(client, block, hash);
      const carrier = carrierOf(receipt, transaction);
      const carried = byHash.get(hash) ?? [];
      for (const { call, ...told } of describeExecutions(carried, { carrier, entryPoints }).calls) {
        const outcome = { ...told, l1Fee: null, marketPrice: block.marketPrice };
        calls.push(describeCall({ ...call, timestamp: block.timestamp }, outcome, wrappedNative));
      }
    }
  }
  return calls;
}
