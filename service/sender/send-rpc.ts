import {
  type Address,
  createPublicClient,
  type Hex,
  http,
  type PublicClient,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from "viem";
import type { MinedReceipt } from "./send-step.ts";

export type ChainHead = { readonly number: number; readonly hash: Hex; readonly baseFeePerGas: bigint };

type CallToSend = {
  readonly from: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
};

/** Everything that the sender asks of a node; each call has a deadline and throws a viem error. */
export type SenderRpc = {
  head(): Promise<ChainHead>;
  /** Transactions of the address up to a block; "pending" counts on with those of the node's pool that follow without a gap. */
  nonceAt(address: Address, block: number | "latest" | "pending"): Promise<number>;
  balance(address: Address): Promise<bigint>;
  priorityFeePerGas(): Promise<bigint>;
  /** Simulates the call and returns the gas it needs; throws when it reverts. */
  estimateGas(call: CallToSend): Promise<bigint>;
  broadcast(raw: Hex): Promise<void>;
  receipt(hash: Hex): Promise<MinedReceipt | null>;
};

export type SenderRpcOptions = { readonly url: string; readonly timeoutMs: number; readonly retries: number };

/** Talks to one JSON-RPC endpoint over HTTP; a call takes at most (retries + 1) × timeoutMs and the pauses between. */
export function createSenderRpc(options: SenderRpcOptions): SenderRpc {
  const transport = http(options.url, {
    timeout: options.timeoutMs,
    retryCount: options.retries,
    retryDelay: 200,
  });
  const client = createPublicClient({ transport });
  return {
    head: () => readHead(client),
    nonceAt: (address, block) =>
      client.getTransactionCount({
        address,
        ...(typeof block === "number" ? { blockNumber: BigInt(block) } : { blockTag: block }),
      }),
    balance: (address) => client.getBalance({ address }),
    priorityFeePerGas: async () => BigInt(await client.request({ method: "eth_maxPriorityFeePerGas" })),
    estimateGas: ({ from, ...call }) => client.estimateGas({ account: from, ...call }),
    broadcast: async (raw) => {
      await client.request({ method: "eth_sendRawTransaction", params: [raw] });
    },
    receipt: (hash) => readReceipt(client, hash),
  };
}

async function readHead(client: PublicClient): Promise<ChainHead> {
  const block = await client.getBlock();
  if (block.baseFeePerGas === null)
    throw new Error("the chain has no base fee: only EIP-1559 chains are supported");
  return { number: Number(block.number), hash: block.hash, baseFeePerGas: block.baseFeePerGas };
}

async function readReceipt(client: PublicClient, hash: Hex): Promise<MinedReceipt | null> {
  try {
    const receipt = await client.getTransactionReceipt({ hash });
    return {
      hash,
      block: Number(receipt.blockNumber),
      ok: receipt.status === "success",
      gasUsed: receipt.gasUsed,
      costWei: receipt.gasUsed * receipt.effectiveGasPrice + l1FeeOf(receipt),
    };
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return null;
    throw error;
  }
}

/** Rollups of the OP stack add their L1 fee to the receipt; other chains have none. */
function l1FeeOf(receipt: TransactionReceipt): bigint {
  return "l1Fee" in receipt && typeof receipt.l1Fee === "string" ? BigInt(receipt.l1Fee) : 0n;
}
