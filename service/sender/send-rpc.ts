import {
  type Address,
  BaseError,
  createPublicClient,
  type Hex,
  HttpRequestError,
  http,
  isHex,
  type PublicClient,
  TimeoutError,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from "viem";
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
  estimateGas(call: {
    readonly from: Address;
    readonly to: Address;
    readonly data: Hex;
    readonly value: bigint;
  }): Promise<bigint>;
  broadcast(raw: Hex): Promise<void>;
  receipt(hash: Hex): Promise<MinedReceipt | null>;
};

/** Talks to one JSON-RPC endpoint over HTTP; a call takes at most (retries + 1) × timeoutMs and the pauses between. */
export function createSenderRpc(options: {
  readonly url: string;
  readonly timeoutMs: number;
  readonly retries: number;
}): SenderRpc {
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
  readonly message: string;
  /** What the contract reverted with, when the node passed it on. */
  readonly revertData: Hex | null;
};

/**
 * Node messages by meaning; the first match counts. Wordings of geth, reth, erigon, nethermind and anvil. A revert goes first, since
 * it carries words that the called contract chose.
 */
const MESSAGES: readonly (readonly [RegExp, SendFailureKind])[] = [
  [/execution reverted|reverted|vm exception/i, "reverted_in_simulation"],
  [/already known|already imported|known transaction|already in (the )?mempool/i, "already_known"],
  [/nonce too low|nonce is too low|nonce has already been used|old ?nonce/i, "nonce_used"],
  [/insufficient (funds|balance)|doesn't have enough funds/i, "insufficient_funds"],
  [/underpriced|less than block base fee|fee ?cap|fee too low|gas price too low/i, "underpriced"],
];

/** JSON-RPC codes that speak of the node and not of the transaction: internal error, limits, resource not available. */
const NODE_TROUBLE = new Set([-32603, -32005, -32002, -32001, 429]);
const EXECUTION_REVERTED = 3;

/** Classifies an error of an RPC call; an unknown error counts as a refusal. */
export function classifySendFailure(error: unknown): SendFailure {
  const chain = causesOf(error);
  // Nodes print the arguments of custom errors raw, and PostgreSQL stores no NUL.
  const message = chain
    .map(textOf)
    .join(" | ")
    .replaceAll(/\p{Cc}+/gu, "…");
  const failure = (kind: SendFailureKind): SendFailure => ({
    kind,
    message: message.slice(0, 500),
    revertData: null,
  });
  if (chain.some((cause) => codeOf(cause) === EXECUTION_REVERTED)) {
    return { ...failure("reverted_in_simulation"), revertData: revertDataOf(chain) };
  }
  const known = MESSAGES.find(([pattern]) => pattern.test(message));
  if (known !== undefined) {
    return { ...failure(known[1]), revertData: revertDataOf(chain) };
  }
  if (chain.some((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError))
    return failure("unreachable");
  if (chain.some((cause) => NODE_TROUBLE.has(codeOf(cause) ?? 0))) return failure("unreachable");
  return failure("refused");
}

/** True for what an RPC call threw, false for a fault of ours or of the database. */
export function isRpcError(error: unknown): boolean {
  return error instanceof BaseError;
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  let current = error;
  while (current !== undefined && current !== null && causes.length < 10) {
    causes.push(current);
    current = current instanceof Error ? current.cause : undefined;
  }
  return causes;
}

function textOf(cause: unknown): string {
  if (cause instanceof BaseError) return `${cause.shortMessage} ${cause.details}`;
  return cause instanceof Error ? cause.message : JSON.stringify(cause);
}

function codeOf(cause: unknown): number | null {
  if (typeof cause !== "object" || cause === null || !("code" in cause)) return null;
  return typeof cause.code === "number" ? cause.code : null;
}

function revertDataOf(chain: readonly unknown[]): Hex | null {
  for (const cause of chain) {
    if (typeof cause === "object" && cause !== null && "data" in cause && isHex(cause.data))
      return cause.data;
  }
  return null;
}
