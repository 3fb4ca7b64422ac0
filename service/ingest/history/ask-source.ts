import { setTimeout as sleep } from "node:timers/promises";
import type { Address, Hex } from "viem";
import { z } from "zod";
import { readTokenPayment } from "../../chain/token-payment.ts";
import type { AsOf } from "../../model/features/types.ts";
import {
  type HistoryFailure,
  type HistorySource,
  historyFailure,
  type NumberedCall,
  type SentCount,
} from "./history.ts";

type JsonQuestion = {
  /** Of the operator's configuration, so it is not guarded. */
  readonly url: URL;
  /** Sent by POST; without one it is a GET. */
  readonly body?: string;
};

/** Turns the JSON of an answer into what is wanted, or says why it cannot. */
type ReadJson<Result> = (json: unknown) => Result | HistoryFailure;

export type AskPolicy = {
  /** Each try is given up after this time. */
  readonly timeoutMs: number;
  readonly tries: number;
  /** Before the second try; each later pause is four times as long. */
  readonly pauseMs: number;
  /** A source that wants a longer pause is not waited for. */
  readonly longestPauseMs: number;
};

export const ASK_POLICY: AskPolicy = { timeoutMs: 10_000, tries: 3, pauseMs: 250, longestPauseMs: 5_000 };

/** A page of 10,000 explorer rows takes about 10 MB. */
const MAX_BYTES = 33_554_432;
const PASSING = new Set(["unavailable", "timeout", "rate_limited"]);
const PAUSE_GROWTH = 4;

/**
 * Asks an HTTP source for JSON, again after failures that may pass and no sooner than the source wishes; every failure,
 * the caller's signal included, is a value.
 */
export async function askJson<Result extends object>(
  question: JsonQuestion,
  read: ReadJson<Result>,
  { policy, signal }: { readonly policy: AskPolicy; readonly signal: AbortSignal },
): Promise<Result | HistoryFailure> {
  for (let tried = 1; ; tried++) {
    const answer = await askOnce(
      question,
      read,
      AbortSignal.any([signal, AbortSignal.timeout(policy.timeoutMs)]),
    );
    if (!isFailure(answer) || !PASSING.has(answer.reason) || tried >= policy.tries) return answer;
    const pauseMs = Math.max(
      policy.pauseMs * PAUSE_GROWTH ** (tried - 1),
      1000 * (answer.retryAfterSeconds ?? 0),
    );
    if (pauseMs > policy.longestPauseMs || signal.aborted) return answer;
    // An end of the caller's patience is found by the next try.
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Whether the value is a failure. */
export function isFailure(value: object): value is HistoryFailure {
  return "kind" in value && value.kind === "failed";
}

async function askOnce<Result extends object>(
  { url, body }: JsonQuestion,
  read: ReadJson<Result>,
  signal: AbortSignal,
): Promise<Result | HistoryFailure> {
  try {
    const response = await fetch(url, {
      signal,
      // A key in the URL must not travel on.
      redirect: "error",
      headers: { accept: "application/json", "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body }),
    });
    const refusal = refusalOf(response);
    if (refusal !== null) {
      await response.body?.cancel();
      return refusal;
    }
    const text = await readText(response);
    if (text === null) return historyFailure("malformed", `the answer is larger than ${MAX_BYTES} bytes`);
    const json = parse(text);
    return json === undefined ? historyFailure("malformed", "the answer is not JSON") : read(json);
  } catch (error) {
    if (signal.aborted) return historyFailure("timeout", "no whole answer in time");
    return historyFailure("unavailable", `the connection failed: ${causeOf(error)}`);
  }
}

function refusalOf(response: Response): HistoryFailure | null {
  const { status } = response;
  if (response.ok) return null;
  const passing = status === 408 || status >= 500;
  const reason = status === 429 ? "rate_limited" : passing ? "unavailable" : "refused";
  const retryAfterSeconds = retryAfter(response.headers.get("retry-after"), response.headers.get("date"));
  return { kind: "failed", reason, detail: `HTTP status ${status}`, retryAfterSeconds };
}

/** Seconds, or a date, which counts from the source's own clock (RFC 9110 section 10.2.3); null where there is neither. */
function retryAfter(value: string | null, date: string | null): number | null {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - Date.parse(date ?? "")) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
}

async function readText(response: Response): Promise<string | null> {
  if (response.body === null) return "";
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    // Leaving the loop cancels the body.
    if (length > MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Undefined is no JSON value.
    return undefined;
  }
}

/** The code of the system's error alone: messages may hold the URL, and with it a key. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "no code given";
}

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

/** Number of transactions that a wallet had sent by a block; null if the node has no state of that block. */
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
  return count.success ? { count: count.data } : historyFailure("malformed", "the node returned no count");
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

/** Most digits of a 256-bit number. */
const decimal = z.string().regex(/^\d{1,78}$/);
const quantity = z.string().regex(/^0x[0-9a-f]{1,64}$/i);

const SELECTOR_CHARACTERS = 10;

/** A 256-bit number in decimal digits. */
export const decimalBigint = decimal.transform(BigInt);
/** A number in decimal digits that fits a double exactly. */
export const decimalNumber = decimal.transform(Number).pipe(z.int().nonnegative());
/** A JSON-RPC quantity of at most 256 bits. */
export const hexBigint = quantity.transform(BigInt);
/** A JSON-RPC quantity that fits a double exactly. */
export const hexNumber = quantity.transform(Number).pipe(z.int().nonnegative());
/** Lower-case. */
export const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/i)
  .transform((text) => text.toLowerCase() as Address);
/** A 32-byte hash, lower-case. */
export const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .transform((text) => text.toLowerCase() as Hex);
/** Calldata, whole bytes. */
export const bytes = z.string().regex(/^0x(?:[0-9a-f]{2})*$/i);

/** What every source says of an own call. */
type CallFacts = {
  readonly hash: Hex;
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly timestamp: number;
  readonly nonce: number;
  readonly to: Address | null;
  readonly input: string;
  readonly value: bigint;
  readonly ok: boolean;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  readonly gasPrice: bigint;
  /** What a rollup paid its settlement layer for it; zero elsewhere. */
  readonly settlementFee: bigint;
};

/**
 * An own call as the model reads it, a transaction of the wallet without its receipt's logs; its fee is gas used ×
 * effective price, and the rollup's settlement fee.
 */
export function numberedCall(facts: CallFacts): NumberedCall {
  const { nonce, input, settlementFee, ...same } = facts;
  const payment = facts.to === null ? null : readTokenPayment(input);
  return {
    nonce,
    call: {
      ...same,
      position: 0,
      selector:
        input.length < SELECTOR_CHARACTERS
          ? null
          : (input.slice(0, SELECTOR_CHARACTERS).toLowerCase() as Hex),
      fee: facts.gasUsed * facts.gasPrice + settlementFee,
      recipient: payment === null ? null : payment.recipient,
      amount: payment === null ? null : payment.amount,
      receipt: null,
    },
  };
}
