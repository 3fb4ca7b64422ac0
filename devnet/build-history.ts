import type { Address, Hex } from "viem";
import { type JsonRpc, JsonRpcError, type RpcCall } from "./json-rpc.ts";
import type { ReadyBlock, ReadyTransaction } from "./population/resolve.ts";

export type BuildProgress = (progress: { done: number; total: number }) => void;

const REPORT_EVERY = 50;
/** Anvil runs the calls of a batch side by side; in batches this small they were always taken in order. */
const CALLS_PER_BATCH = 24;

/** Mines the blocks at their times and base fees, sending without keys. Throws when the node refuses or omits a transaction. */
export async function buildHistory({
  rpc,
  blocks,
  endowments,
  onProgress,
  signal,
}: {
  readonly rpc: JsonRpc;
  readonly blocks: readonly ReadyBlock[];
  /** Accounts that exist before the history, with native coin in wei: the exchanges, and those that no account funds. */
  readonly endowments: ReadonlyMap<Address, bigint>;
  readonly onProgress: BuildProgress;
  readonly signal?: AbortSignal | undefined;
}): Promise<void> {
  await rpc.request("anvil_autoImpersonateAccount", true);
  await rpc.batch([...endowments].map(([address, wei]) => call("anvil_setBalance", address, quantity(wei))));
  onProgress({ done: 0, total: blocks.length });
  for (const [index, block] of blocks.entries()) {
    signal?.throwIfAborted();
    const fee = call("anvil_setNextBlockBaseFeePerGas", quantity(block.baseFee));
    await sendAll(rpc, block, fee);
    await rpc.request("evm_mine", { timestamp: block.time });
    if ((index + 1) % REPORT_EVERY === 0) onProgress({ done: index + 1, total: blocks.length });
  }
  await requireNothingLeft(rpc);
  await rpc.request("anvil_autoImpersonateAccount", false);
  onProgress({ done: blocks.length, total: blocks.length });
}

/** The base fee goes first: the node holds offers against it as they come in. */
async function sendAll(rpc: JsonRpc, block: ReadyBlock, fee: RpcCall): Promise<void> {
  await rpc.request(fee.method, ...fee.params);
  for (let start = 0; start < block.transactions.length; start += CALLS_PER_BATCH) {
    await sendSome(rpc, block, block.transactions.slice(start, start + CALLS_PER_BATCH));
  }
}

async function sendSome(rpc: JsonRpc, block: ReadyBlock, some: readonly ReadyTransaction[]): Promise<void> {
  try {
    await rpc.batch(some.map(sending));
  } catch (cause) {
    const refused = cause instanceof JsonRpcError ? some[cause.position] : undefined;
    const which = refused
      ? `from ${refused.from}, nonce ${refused.nonce}, to ${refused.to ?? "a new contract"}`
      : "unknown";
    throw new Error(`the node refused a transaction of block time ${block.time}: ${which}`, { cause });
  }
}

function sending(transaction: ReadyTransaction): RpcCall {
  return call("eth_sendTransaction", {
    from: transaction.from,
    ...(transaction.to === null ? {} : { to: transaction.to }),
    data: transaction.data,
    value: quantity(transaction.value),
    nonce: quantity(transaction.nonce),
    gas: quantity(transaction.gasLimit),
    maxFeePerGas: quantity(transaction.maxFeePerGas),
    maxPriorityFeePerGas: quantity(transaction.maxPriorityFeePerGas),
  });
}

async function requireNothingLeft(rpc: JsonRpc): Promise<void> {
  const pool = (await rpc.request("txpool_status")) as { pending: Hex; queued: Hex };
  const left = Number(pool.pending) + Number(pool.queued);
  if (left > 0) throw new Error(`the node left ${left} transactions of the history out`);
}

function call(method: string, ...params: readonly unknown[]): RpcCall {
  return { method, params };
}

function quantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}
