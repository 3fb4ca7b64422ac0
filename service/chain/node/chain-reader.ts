import { type Address, type Hex, numberToHex } from "viem";
import { z } from "zod";
import { NodeFailure } from "./failure.ts";
import { createNodeClient, type NodeOptions } from "./json-rpc.ts";
import {
  blockAnswer,
  bytesAnswer,
  count,
  headerAnswer,
  logAnswer,
  type RawBlock,
  type RawHeader,
  type RawLog,
  type RawReceipt,
  type RawTransaction,
  receiptAnswer,
  transactionAnswer,
} from "./rpc-answers.ts";

/** Topics by place: null matches anything, a list any of its members. Without addresses, of any contract. */
export type LogFilter = {
  readonly from: number;
  readonly to: number;
  readonly addresses?: readonly Address[];
  readonly topics: readonly (readonly Hex[] | null)[];
};

/** A block by number, or the newest one of the kind. */
export type StateBlock = number | "finalized" | "latest";

/** Everything that enrichment asks of a node; each call throws a NodeFailure, or the signal's reason once it fires. */
export type ChainReader = {
  /** Null where the node has no block of that number. */
  header(block: number): Promise<RawHeader | null>;
  blockReceipts(block: number): Promise<readonly RawReceipt[] | null>;
  blockWithTransactions(block: number): Promise<RawBlock | null>;
  receipt(hash: Hex): Promise<RawReceipt | null>;
  transaction(hash: Hex): Promise<RawTransaction | null>;
  code(address: Address, block: StateBlock): Promise<Hex>;
  /** Transactions that an account had sent by the end of a block. */
  transactionCount(address: Address, block: StateBlock): Promise<number>;
  /** Null where the called account reverts. */
  call(to: Address, data: Hex, block: StateBlock): Promise<Hex | null>;
  logs(filter: LogFilter): Promise<readonly RawLog[]>;
  /** The calls of a mined transaction, as callTracer reports them; unchecked, and of at most 16 MiB. */
  trace(hash: Hex): Promise<unknown>;
};

/** A larger answer must be asked for in parts. */
const MAX_BYTES = 64 * 1024 * 1024;
/** A bundle of hundreds of operations takes less; a transaction can be made to have any number of calls. */
const MAX_TRACE_BYTES = 16 * 1024 * 1024;
/** A node reads the transactions before it in its block again. */
const LONGEST_TRACE_MS = 15_000;
const TRACER = { tracer: "callTracer", timeout: "12s" };

/** Reads one JSON-RPC endpoint over HTTP. A timeout is not retried: the caller asks for less. */
export function createChainReader(
  options: Pick<NodeOptions, "url" | "timeoutMs" | "retries" | "retryMs" | "signal" | "onRequest">,
): ChainReader {
  const retriesOn = ({ kind }: NodeFailure) => kind !== "timeout";
  const { ask } = createNodeClient({ ...options, maxBytes: MAX_BYTES, retriesOn });
  const timeoutMs = Math.min(options.timeoutMs, LONGEST_TRACE_MS);
  const tracing = createNodeClient({ ...options, timeoutMs, maxBytes: MAX_TRACE_BYTES, retriesOn });
  return {
    header: (block) => ask(headerAnswer.nullable(), "eth_getBlockByNumber", [numberToHex(block), false]),
    blockReceipts: (block) =>
      ask(z.array(receiptAnswer).nullable(), "eth_getBlockReceipts", [numberToHex(block)]),
    blockWithTransactions: (block) =>
      ask(blockAnswer.nullable(), "eth_getBlockByNumber", [numberToHex(block), true]),
    receipt: (hash) => ask(receiptAnswer.nullable(), "eth_getTransactionReceipt", [hash]),
    transaction: (hash) => ask(transactionAnswer.nullable(), "eth_getTransactionByHash", [hash]),
    code: (address, block) => ask(bytesAnswer, "eth_getCode", [address, stateBlock(block)]),
    transactionCount: (address, block) => ask(count, "eth_getTransactionCount", [address, stateBlock(block)]),
    call: (to, data, block) =>
      ask(bytesAnswer, "eth_call", [{ to, data }, stateBlock(block)]).catch((error: unknown) => {
        if (error instanceof NodeFailure && error.kind === "reverted") return null;
        throw error;
      }),
    logs: ({ from, to, topics, addresses }) =>
      ask(z.array(logAnswer), "eth_getLogs", [
        {
          fromBlock: numberToHex(from),
          toBlock: numberToHex(to),
          ...(addresses === undefined ? {} : { address: addresses }),
          topics,
        },
      ]),
    trace: (hash) => tracing.request("debug_traceTransaction", [hash, TRACER]),
  };
}

function stateBlock(block: StateBlock): string {
  return typeof block === "number" ? numberToHex(block) : block;
}

/**
 * Asks for state as of a block, and for the newest state if the node keeps none so old. A node in trouble or behind is asked for
 * nothing else: its NodeFailure is thrown. In words that are not known the newest state shows whether the block is the reason.
 */
export async function readState<Answer>(
  ask: (block: StateBlock) => Promise<Answer>,
  { block, newest }: { readonly block: number; readonly newest: "finalized" | "latest" },
): Promise<{ readonly answer: Answer; readonly isOfBlock: boolean }> {
  try {
    return { answer: await ask(block), isOfBlock: true };
  } catch (error) {
    if (!(error instanceof NodeFailure) || (error.kind !== "state_missing" && error.kind !== "unknown"))
      throw error;
    return { answer: await ask(newest), isOfBlock: false };
  }
}

/** Code of an account as of a block, or of the newest finalized one of a node that keeps no state so old. */
export async function readCode(client: ChainReader, address: Address, block: number): Promise<Hex> {
  const code = await readState((at) => client.code(address, at), { block, newest: "finalized" });
  return code.answer;
}
