import {
  type Address,
  BaseError,
  createPublicClient,
  type Hex,
  type PublicClient,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from "viem";
import { type NodeFailure, nodeFailureOf, safeDetail } from "../chain/node/failure.ts";
import { type NodeOptions, nodeTransport } from "../chain/node/json-rpc.ts";
import type { MinedReceipt } from "./send-step.ts";

export type ChainHead = { readonly number: number; readonly hash: Hex; readonly baseFeePerGas: bigint };

/** Everything that the sender asks of a node; each call has a deadline and throws a viem error. */
export type SenderRpc = {
  head(): Promise<ChainHead>;
  /** Transactions of the address up to a block; "pending" counts on with those of the node's pool that follow without a gap. */
  nonceAt(address: Address, block: number | "latest" | "pending"): Promise<number>;
  balance(address: Address): Promise<bigint>;
  priorityFeePerGas(): Promise<bigint>;
  /** Simulates the call and returns the gas it needs; throws when it reverts. */
  estimateGas(call: { from: Address; to: Address; data: Hex; value: bigint }): Promise<bigint>;
  broadcast(raw: Hex): Promise<void>;
  receipt(hash: Hex): Promise<MinedReceipt | null>;
};

/** Talks to one JSON-RPC endpoint over HTTP; a call takes at most (retries + 1) × timeoutMs and the pauses between. */
export function createSenderRpc(options: Pick<NodeOptions, "url" | "timeoutMs" | "retries">): SenderRpc {
  const transport = nodeTransport({ ...options, retryMs: 200 });
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

/** Kinds of failures of a simulation or a broadcast that the sender treats differently. */
type SendFailureKind =
  /** The call reverts now: it is not sent and costs nothing. */
  | "reverted_in_simulation"
  /** The key cannot pay: it waits for money. */
  | "insufficient_funds"
  /** Another transaction has this nonce. */
  | "nonce_used"
  /** The fees are below what the node or the replaced transaction asks for. */
  | "underpriced"
  /** The node has this very transaction: as good as accepted. */
  | "already_known"
  /** No answer, or none that says anything about the transaction: the same is tried again. */
  | "unreachable"
  /** An error in words that are not known: the same is tried again. */
  | "unknown"
  /** It was not sent, and nothing shows that it never can be. */
  | "given_up"
  /** The node refuses the transaction itself: trying again changes nothing. */
  | "refused"
  /** It costs more now than what it is for: it waits for lower fees. */
  | "too_dear"
  /** Its purpose has used the gas of the day: it waits for the next. */
  | "over_budget"
  /** The key must not send it: no legitimate writer of the queue asks for it. */
  | "forbidden";

export type SendFailure = {
  readonly kind: SendFailureKind;
  /** Stored: at most 500 characters, without URLs and keys of the node. */
  readonly message: string;
  /** Data that the contract reverted with, if the node returned it. */
  readonly revertData: Hex | null;
};

/** Wordings of geth, reth, erigon, nethermind and anvil about a transaction; the first match counts. */
const MESSAGES: readonly (readonly [RegExp, SendFailureKind])[] = [
  [/already known|already imported|known transaction|already in (the )?mempool/i, "already_known"],
  [/nonce too low|nonce is too low|nonce has already been used|old ?nonce/i, "nonce_used"],
  [/insufficient (funds|balance)|doesn't have enough funds/i, "insufficient_funds"],
  [/underpriced|less than block base fee|fee ?cap|fee too low|gas price too low/i, "underpriced"],
];

/** Classifies an error of an RPC call; an error that no node caused counts as a refusal. */
export function classifySendFailure(error: unknown): SendFailure {
  const failure = nodeFailureOf(error);
  if (failure === null) return { kind: "refused", message: safeDetail(String(error)), revertData: null };
  return { kind: kindOf(failure), message: failure.detail, revertData: failure.data };
}

function kindOf(failure: NodeFailure): SendFailureKind {
  // Checked first: a revert carries words that the called contract chose.
  if (failure.kind === "reverted") return "reverted_in_simulation";
  if (failure.code === null) return "unreachable";
  const known = MESSAGES.find(([pattern]) => pattern.test(failure.detail));
  if (known !== undefined) return known[1];
  if (failure.isVerdict) return "refused";
  return failure.kind === "unknown" ? "unknown" : "unreachable";
}

/** True for what an RPC call threw, false for a fault of ours or of the database. */
export function isRpcError(error: unknown): boolean {
  return error instanceof BaseError;
}
