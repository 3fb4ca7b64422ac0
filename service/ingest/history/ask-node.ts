import { z } from "zod";
import type { AsOf } from "../../model/features/types.ts";
import { ASK_POLICY, type AskPolicy, askJson } from "./ask-json.ts";
import { type HistoryFailure, type HistorySource, historyFailure, type SentCount } from "./history-source.ts";
import { hexNumber } from "./source-values.ts";

export type NodeOptions = {
  /** JSON-RPC endpoint. */
  readonly url: string;
  readonly policy?: AskPolicy;
};

export type NodeCall<Result> = {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly read: (result: unknown) => Result | HistoryFailure;
  /** What an error of the node means, one about its limits left out; without it such an error is a failure. */
  readonly refused?: Result;
};

const rpcAnswer = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
]);

const RATE_LIMITED = new Set([429, -32005, -32029]);
/** Unknown method, bad parameters, bad request, unsupported: asking again changes nothing. */
const REFUSED = new Set([-32601, -32602, -32600, -32004]);

/** Asks a node one JSON-RPC question, again after failures that may pass; every failure is a value. */
export function askNode<Result extends object>(
  { url, policy = ASK_POLICY }: NodeOptions,
  call: NodeCall<Result>,
  signal: AbortSignal,
): Promise<Result | HistoryFailure> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: call.method, params: call.params });
  return askJson({ url: new URL(url), body }, (json) => readAnswer(json, call), { policy, signal });
}

/** A block's number as JSON-RPC has it. */
export function blockTag({ blockNumber }: AsOf): string {
  return `0x${blockNumber.toString(16)}`;
}

/** How many transactions a wallet had sent by a block, told by a node; null where it does not keep that block's state. */
export function countSentBy(options: NodeOptions): HistorySource["countSent"] {
  return ({ wallet, asOf }, signal) =>
    askNode<SentCount>(
      options,
      {
        method: "eth_getTransactionCount",
        params: [wallet, blockTag(asOf)],
        read: readCount,
        // Nodes have no common code for a state that is gone.
        refused: { count: null },
      },
      signal,
    );
}

function readCount(result: unknown): SentCount | HistoryFailure {
  const count = hexNumber.safeParse(result);
  return count.success ? { count: count.data } : historyFailure("malformed", "the node told no count");
}

function readAnswer<Result>(
  json: unknown,
  { method, read, refused }: NodeCall<Result>,
): Result | HistoryFailure {
  const answer = rpcAnswer.safeParse(json);
  if (!answer.success) return historyFailure("malformed", `${method}: neither a result nor an error`);
  if ("result" in answer.data) return read(answer.data.result);
  const { code } = answer.data.error;
  if (RATE_LIMITED.has(code)) return historyFailure("rate_limited", `${method}: error ${code}`);
  if (refused !== undefined) return refused;
  return historyFailure(REFUSED.has(code) ? "refused" : "unavailable", `${method}: error ${code}`);
}
