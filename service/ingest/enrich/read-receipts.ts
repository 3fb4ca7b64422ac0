import type { Address, Hex } from "viem";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { NodeFailure } from "../../chain/node/failure.ts";
import type { RawBlock, RawReceipt } from "../../chain/node/rpc-answers.ts";
import { type BlockHead, type SampledBlock, sampledBlockOf } from "./sampling.ts";

/** Whether the node gives the receipts of whole blocks, as far as is known. */
export type NodeState = { hasBlockReceipts: boolean };

/** A block as far as it was wanted. */
export type ReadBlock = {
  /** Of own calls, by transaction; null for one that no answer has room for. */
  readonly receipts: ReadonlyMap<Hex, RawReceipt | null>;
  /** Null where the block is not sampled. */
  readonly sampled: SampledBlock | null;
};

/** A block to read: the own calls in it, and whether it is sampled. */
type WantedBlock = BlockHead & { readonly calls: readonly Hex[]; readonly isSampled: boolean };

/**
 * Reads sampled blocks, those of several calls and those that are `held`, whole by eth_getBlockReceipts, and the receipt of any other call. A node without that
 * method (`onFallback`), and any for a block that does not fit, is asked for each receipt, and for a sampled block's transactions.
 * Throws a NodeFailure if a call is missing or the block is another.
 */
export function createReceiptReader(
  client: ChainReader,
  /** Whose logs of signed payments are believed, lower-case. */
  tokens: ReadonlySet<Address>,
  onFallback: (cause: NodeFailure) => void,
  shared: { readonly isHeld: (block: number) => boolean; readonly node: NodeState },
): (wanted: WantedBlock, isOversized: IsOversized) => Promise<ReadBlock> {
  const { isHeld, node } = shared;
  return async (wanted, isOversized) => {
    const isWhole = wanted.isSampled || wanted.calls.length > 1 || isHeld(wanted.number);
    if (node.hasBlockReceipts && isWhole) {
      try {
        const whole = await orOversized(isOversized, () => readWholeBlock(client, wanted, tokens));
        if (whole !== null) return whole;
      } catch (error) {
        if (!(error instanceof NodeFailure) || error.kind !== "method_missing") throw error;
        if (node.hasBlockReceipts) onFallback(error);
        node.hasBlockReceipts = false;
      }
    }
    return await readEachCall(client, wanted, isOversized);
  };
}

async function readWholeBlock(
  client: ChainReader,
  { calls, isSampled, ...head }: WantedBlock,
  tokens: ReadonlySet<Address>,
): Promise<ReadBlock> {
  const all = await readBlockReceipts(client, head.number);
  if (all === null) throw new NodeFailure("node_behind", `no receipts of block ${head.number}`);
  const byHash = new Map(all.map((receipt) => [receipt.transactionHash, receipt]));
  for (const receipt of all) expectReceipt(head, receipt.transactionHash, receipt);
  return {
    receipts: new Map(calls.map((hash) => [hash, expectReceipt(head, hash, byHash.get(hash) ?? null)])),
    sampled: isSampled ? sampledBlockOf(head, all, tokens) : null,
  };
}

/** Null where the node lacks the block. Genesis has no transactions, and some nodes no receipts of it. */
export async function readBlockReceipts(client: Pick<ChainReader, "blockReceipts">, block: number) {
  return block === 0 ? [] : client.blockReceipts(block);
}

async function readEachCall(
  client: ChainReader,
  { calls, isSampled, ...head }: WantedBlock,
  isOversized: IsOversized,
): Promise<ReadBlock> {
  const receipts = new Map<Hex, RawReceipt | null>();
  for (const hash of calls) {
    const receipt = await orOversized(isOversized, async () =>
      expectReceipt(head, hash, await client.receipt(hash)),
    );
    receipts.set(hash, receipt);
  }
  if (!isSampled) return { receipts, sampled: null };
  const gasPrices = await orOversized(isOversized, () => readGasPrices(client, head));
  const source = gasPrices === null ? "header" : "transactions";
  return { receipts, sampled: { ...head, gasPrices, seen: [], source } };
}

async function readGasPrices(client: ChainReader, head: BlockHead): Promise<readonly bigint[]> {
  const block = await client.blockWithTransactions(head.number);
  if (block === null) throw new NodeFailure("node_behind", `no block ${head.number}`);
  expectHash(head, block.hash);
  const prices = block.transactions.map((sent) => paidPrice(sent, head.baseFeeWei));
  return prices.filter((price) => price !== null);
}

function expectReceipt(wanted: BlockHead, hash: Hex, receipt: RawReceipt | null): RawReceipt {
  if (receipt === null || receipt.blockNumber !== wanted.number || receipt.transactionHash !== hash) {
    throw new NodeFailure(
      "inconsistent",
      `the index has ${hash} in block ${wanted.number}, the node does not`,
    );
  }
  expectHash(wanted, receipt.blockHash);
  return receipt;
}

function expectHash(wanted: BlockHead, hash: Hex): void {
  if (hash === wanted.hash) return;
  throw new NodeFailure(
    "other_chain",
    `block ${wanted.number} is ${wanted.hash} in the index and ${hash} at the node`,
  );
}

/** EIP-1559: base fee and tip, at most the maximum; a transaction of an older kind pays its gas price. */
function paidPrice(sent: RawBlock["transactions"][number], baseFeeWei: bigint | null): bigint | null {
  const { maxFeePerGas, maxPriorityFeePerGas, gasPrice } = sent;
  if (typeof maxFeePerGas === "bigint" && typeof maxPriorityFeePerGas === "bigint" && baseFeeWei !== null) {
    const offered = baseFeeWei + maxPriorityFeePerGas;
    if (offered < maxFeePerGas) return offered;
    return maxFeePerGas;
  }
  return gasPrice ?? null;
}

/** Whether a request failed since no answer has room for what it asks: it is to be asked for in parts, or left out. */
export type IsOversized = (error: unknown) => Promise<boolean>;

/**
 * Distinguishes answers that are too large from trouble of the node. A timeout counts only in a stuck range. Either counts only
 * while the node gives a header, since rate limits have the same texts; throws a NodeFailure when it does not.
 */
export function createOversizeTest(
  client: Pick<ChainReader, "header">,
  { block, isStuck }: { readonly block: number; readonly isStuck: boolean },
): IsOversized {
  return async (error) => {
    if (!(error instanceof NodeFailure)) return false;
    if (error.kind !== "too_many_results" && !(error.kind === "timeout" && isStuck)) return false;
    await client.header(block);
    return true;
  };
}

/** The result of a request; null if it is too large for an answer. */
export async function orOversized<Answer>(
  isOversized: IsOversized,
  ask: () => Promise<Answer>,
): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    if (await isOversized(error)) return null;
    throw error;
  }
}
