import { setTimeout as sleep } from "node:timers/promises";
import { type Address, type Hex, numberToHex } from "viem";
import { getHttpRpcClient, type HttpRpcClient } from "viem/utils";
import { z } from "zod";
import { EnrichFailure, failureOfHttpError, failureOfRpcError } from "./failure.ts";
import {
  blockAnswer,
  bytesAnswer,
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

/** Everything that enrichment asks of a node; each call throws an EnrichFailure, or the signal's reason once it fires. */
export type ChainReader = {
  /** Null where the node has no block of that number. */
  header(block: number): Promise<RawHeader | null>;
  blockReceipts(block: number): Promise<readonly RawReceipt[] | null>;
  blockWithTransactions(block: number): Promise<RawBlock | null>;
  receipt(hash: Hex): Promise<RawReceipt | null>;
  transaction(hash: Hex): Promise<RawTransaction | null>;
  code(address: Address, block: StateBlock): Promise<Hex>;
  /** Null where the called account reverts. */
  call(to: Address, data: Hex, block: StateBlock): Promise<Hex | null>;
  logs(filter: LogFilter): Promise<readonly RawLog[]>;
};

type ChainReaderOptions = {
  readonly url: string;
  /** Deadline of one request, its body included. */
  readonly timeoutMs: number;
  /** Tries after the first, for a node that is out of reach or asks for fewer requests. */
  readonly retries: number;
  /** Pause before the first of them; it doubles. */
  readonly retryMs: number;
  readonly signal: AbortSignal;
  /** Called before every request, retries included. */
  readonly onRequest: (method: string) => void;
};

/** A larger answer is one to be asked for in parts. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Longest that a call waits at a node's wish; whoever asks for more gets it between ranges. */
const LONGEST_RETRY_AFTER_MS = 10_000;

/** Reads one JSON-RPC endpoint over HTTP. */
export function createChainReader(options: ChainReaderOptions): ChainReader {
  const client = getHttpRpcClient(options.url, { timeout: 0, maxResponseBodySize: MAX_ANSWER_BYTES });
  const ask = <Answer>(schema: z.ZodType<Answer>, method: string, params: readonly unknown[]) =>
    askPatiently({ client, options, method, params }, schema);
  return {
    header: (block) => ask(headerAnswer.nullable(), "eth_getBlockByNumber", [numberToHex(block), false]),
    blockReceipts: (block) =>
      ask(z.array(receiptAnswer).nullable(), "eth_getBlockReceipts", [numberToHex(block)]),
    blockWithTransactions: (block) =>
      ask(blockAnswer.nullable(), "eth_getBlockByNumber", [numberToHex(block), true]),
    receipt: (hash) => ask(receiptAnswer.nullable(), "eth_getTransactionReceipt", [hash]),
    transaction: (hash) => ask(transactionAnswer.nullable(), "eth_getTransactionByHash", [hash]),
    code: (address, block) => ask(bytesAnswer, "eth_getCode", [address, stateBlock(block)]),
    call: (to, data, block) =>
      ask(bytesAnswer, "eth_call", [{ to, data }, stateBlock(block)]).catch((error: unknown) => {
        if (error instanceof EnrichFailure && error.kind === "reverted") return null;
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
  };
}

function stateBlock(block: StateBlock): string {
  return typeof block === "number" ? numberToHex(block) : block;
}

type Ask = {
  readonly client: HttpRpcClient;
  readonly options: ChainReaderOptions;
  readonly method: string;
  readonly params: readonly unknown[];
};

async function askPatiently<Answer>(ask: Ask, schema: z.ZodType<Answer>): Promise<Answer> {
  const { retries, retryMs, signal } = ask.options;
  for (let tried = 0; ; tried += 1) {
    try {
      return parseAnswer(schema, ask.method, await askOnce(ask));
    } catch (error) {
      if (!(error instanceof EnrichFailure) || tried >= retries) throw error;
      if (error.kind !== "unreachable" && error.kind !== "rate_limited") throw error;
      const pause = error.retryAfterMs ?? retryMs * 2 ** tried;
      if (pause > LONGEST_RETRY_AFTER_MS) throw error;
      await sleep(pause, undefined, { signal });
    }
  }
}

async function askOnce({ client, options, method, params }: Ask): Promise<unknown> {
  const { signal, timeoutMs } = options;
  signal.throwIfAborted();
  options.onRequest(method);
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const answer: unknown = await client.request({
      body: { method, params },
      fetchOptions: { signal: AbortSignal.any([signal, deadline]) },
    });
    return resultOf(method, answer);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EnrichFailure) throw error;
    if (deadline.aborted)
      throw new EnrichFailure("timeout", `${method}: no answer within ${timeoutMs} ms`, { cause: error });
    throw failureOfHttpError(method, error);
  }
}

const rpcAnswer = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
]);

function resultOf(method: string, answer: unknown): unknown {
  const parsed = rpcAnswer.safeParse(answer);
  if (!parsed.success || (!("error" in parsed.data) && parsed.data.result === undefined))
    throw new EnrichFailure("garbage", `${method}: not a JSON-RPC answer`);
  if ("error" in parsed.data) throw failureOfRpcError(method, parsed.data.error);
  return parsed.data.result;
}

function parseAnswer<Answer>(schema: z.ZodType<Answer>, method: string, result: unknown): Answer {
  const parsed = schema.safeParse(result);
  if (parsed.success) return parsed.data;
  throw new EnrichFailure("garbage", `${method}: ${z.prettifyError(parsed.error).slice(0, 300)}`);
}

/** Code of an account at a block, or at the newest finalized one of a node that keeps no state of that block. */
export async function readCode(client: ChainReader, address: Address, block: number): Promise<Hex> {
  try {
    return await client.code(address, block);
  } catch (error) {
    if (!(error instanceof EnrichFailure) || error.kind === "timeout" || error.kind === "rate_limited")
      throw error;
    return client.code(address, "finalized");
  }
}
