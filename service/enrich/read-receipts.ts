import type { Address, Hex } from "viem";
import type { BlockSource } from "../store/tables/enrich.ts";
import type { ChainReader } from "./chain-reader.ts";
import { EnrichFailure } from "./failure.ts";
import { payeeOf } from "./payee.ts";
import type { RawBlock, RawReceipt } from "./rpc-answers.ts";

/** A transaction of the block, whoever sent it. */
type SeenCall = {
  readonly transactionIndex: number;
  readonly from: Address;
  /** Whom it went to, or paid by a lone token transfer; null for a creation. */
  readonly counterparty: Address | null;
};

/** A block with own calls: their receipts, and the gas prices that all its transactions paid. */
export type CallBlock = {
  readonly number: number;
  readonly receipts: readonly RawReceipt[];
  /** Wei per gas. */
  readonly gasPrices: readonly bigint[];
  /** All its transactions; none where the node gives no receipts of whole blocks. */
  readonly seen: readonly SeenCall[];
  readonly source: BlockSource;
};

/** A block to read: as the index knows it, with the own calls in it. */
type WantedBlock = {
  readonly number: number;
  readonly hash: Hex;
  readonly baseFeeWei: bigint | null;
  readonly calls: readonly Hex[];
};

/** Reads one block with own calls; throws an EnrichFailure when an own call is missing or the block is another one. */
export type ReadReceipts = (wanted: WantedBlock) => Promise<CallBlock>;

/**
 * Reads whole blocks by eth_getBlockReceipts. A node without that method is asked for the block's transactions and each own
 * call's receipt instead, from then on; `onFallback` is told once.
 */
export function createReceiptReader(
  client: ChainReader,
  onFallback: (cause: EnrichFailure) => void,
): ReadReceipts {
  let hasBlockReceipts = true;
  return async (wanted) => {
    if (hasBlockReceipts) {
      try {
        return await readWholeBlock(client, wanted);
      } catch (error) {
        if (!(error instanceof EnrichFailure) || error.kind !== "method_missing") throw error;
        if (hasBlockReceipts) onFallback(error);
        hasBlockReceipts = false;
      }
    }
    return await readEachCall(client, wanted);
  };
}

async function readWholeBlock(client: ChainReader, wanted: WantedBlock): Promise<CallBlock> {
  const all = await client.blockReceipts(wanted.number);
  if (all === null) throw new EnrichFailure("node_behind", `no receipts of block ${wanted.number}`);
  const byHash = new Map(all.map((receipt) => [receipt.transactionHash, receipt]));
  for (const receipt of all) expectReceipt(wanted, receipt.transactionHash, receipt);
  return {
    number: wanted.number,
    receipts: wanted.calls.map((hash) => expectReceipt(wanted, hash, byHash.get(hash) ?? null)),
    gasPrices: all.map((receipt) => receipt.effectiveGasPrice),
    seen: all.map((receipt) => ({
      transactionIndex: receipt.transactionIndex,
      from: receipt.from,
      counterparty: payeeOf(receipt),
    })),
    source: "block_receipts",
  };
}

async function readEachCall(client: ChainReader, wanted: WantedBlock): Promise<CallBlock> {
  const block = await client.blockWithTransactions(wanted.number);
  if (block === null) throw new EnrichFailure("node_behind", `no block ${wanted.number}`);
  expectHash(wanted, block.hash);
  const receipts: RawReceipt[] = [];
  for (const hash of wanted.calls) receipts.push(expectReceipt(wanted, hash, await client.receipt(hash)));
  const gasPrices = block.transactions.map((sent) => paidPrice(sent, wanted.baseFeeWei));
  return {
    number: wanted.number,
    receipts,
    gasPrices: gasPrices.filter((price) => price !== null),
    seen: [],
    source: "transactions",
  };
}

function expectReceipt(wanted: WantedBlock, hash: Hex, receipt: RawReceipt | null): RawReceipt {
  if (receipt === null || receipt.blockNumber !== wanted.number || receipt.transactionHash !== hash) {
    throw new EnrichFailure(
      "inconsistent",
      `the index has ${hash} in block ${wanted.number}, the node does not`,
    );
  }
  expectHash(wanted, receipt.blockHash);
  return receipt;
}

function expectHash(wanted: WantedBlock, hash: Hex): void {
  if (hash === wanted.hash) return;
  throw new EnrichFailure(
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
