import type { Address } from "viem";
import { type Hex, hexToBigInt, hexToNumber } from "viem";
import type { JsonRpc } from "../../../devnet/json-rpc.ts";

export type MinedLog = {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly transactionHash: Hex;
  readonly logIndex: Hex;
};

type Transaction = {
  readonly hash: Hex;
  readonly from: Address;
  readonly to: Address | null;
  readonly input: Hex;
  readonly value: Hex;
  readonly gas: Hex;
  readonly transactionIndex: Hex;
};

type Receipt = {
  readonly status: Hex;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice: Hex;
  readonly contractAddress: Address | null;
  readonly logs: readonly MinedLog[];
};

/** A transaction with its receipt. */
export type Mined = { readonly sent: Transaction; readonly receipt: Receipt };

/** A block with all that was mined in it. */
export type MinedBlock = {
  readonly number: number;
  readonly hash: Hex;
  readonly time: number;
  readonly baseFee: bigint;
  readonly transactions: readonly Mined[];
};

const BLOCKS_PER_BATCH = 200;

/** Every block but the first of a chain. */
export async function readBlocks(rpc: JsonRpc): Promise<MinedBlock[]> {
  const head = Number(await rpc.request("eth_blockNumber"));
  const blocks: MinedBlock[] = [];
  for (let from = 1; from <= head; from += BLOCKS_PER_BATCH) {
    const length = Math.min(BLOCKS_PER_BATCH, head - from + 1);
    const numbers = Array.from({ length }, (_, i): Hex => `0x${(from + i).toString(16)}`);
    const [found, receipts] = await Promise.all([
      rpc.batch(numbers.map((number) => ({ method: "eth_getBlockByNumber", params: [number, true] }))),
      rpc.batch(numbers.map((number) => ({ method: "eth_getBlockReceipts", params: [number] }))),
    ]);
    for (const [i, raw] of found.entries()) blocks.push(blockOf(raw as RawBlock, receipts[i] as Receipt[]));
  }
  return blocks;
}

type RawBlock = {
  readonly number: Hex;
  readonly hash: Hex;
  readonly timestamp: Hex;
  readonly baseFeePerGas: Hex;
  readonly transactions: readonly Transaction[];
};

function blockOf(raw: RawBlock, receipts: readonly Receipt[]): MinedBlock {
  return {
    number: hexToNumber(raw.number),
    hash: raw.hash,
    time: hexToNumber(raw.timestamp),
    baseFee: hexToBigInt(raw.baseFeePerGas),
    transactions: raw.transactions.map((sent, i) => {
      const receipt = receipts[i];
      if (receipt === undefined) throw new Error(`block ${raw.number} lacks a receipt`);
      return { sent, receipt };
    }),
  };
}
