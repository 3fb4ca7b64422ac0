import type { Address } from "viem";
import { z } from "zod";
import { NodeFailure } from "../../chain/node/failure.ts";
import { createNodeClient } from "../../chain/node/json-rpc.ts";
import { count } from "../../chain/node/rpc-answers.ts";
import { pauseFor } from "../../db/run-loop.ts";
import type { AsOf, OwnCall } from "../../model/features/types.ts";
import { readText } from "../../net/read-text.ts";
import { calldataOf } from "../enrich/own-call.ts";
import {
  type HistoryFailure,
  type HistorySource,
  historyFailure,
  type NumberedCall,
  type SourceRow,
} from "./history.ts";

/** Turns the JSON of an answer into what is wanted, or says why it cannot. */
type ReadJson<Result> = (json: unknown) => Result | HistoryFailure;

export type AskPolicy = {
  /** Each try is given up after this time. */
  readonly timeoutMs: number;
  readonly tries: number;
  /** Before the second try; later pauses are longer. */
  readonly pauseMs: number;
  /** A source that wants a longer pause is not waited for. */
  readonly longestPauseMs: number;
};

export const ASK_POLICY: AskPolicy = { timeoutMs: 10_000, tries: 3, pauseMs: 250, longestPauseMs: 5_000 };

/** A page of 10,000 explorer rows takes about 10 MB. */
const MAX_BYTES = 33_554_432;
const PASSING = new Set(["unavailable", "timeout", "rate_limited"]);
const PAUSE_GROWTH = 4;

type AskOptions<Result> = {
  readonly policy: AskPolicy;
  readonly signal: AbortSignal;
  /** Sent as JSON by POST; absent for a GET. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Result where the answer is too large for the source or for us; without it that is a failure. */
  readonly tooLarge?: Result;
};

/**
 * Asks a configured HTTP source, whose URL needs no guard, for JSON. Retries failures that may pass, no sooner than the source
 * wishes. Every failure is a value, the caller's signal included.
 */
export async function askJson<Result extends object>(
  url: URL,
  read: ReadJson<Result>,
  options: AskOptions<Result>,
): Promise<Result | HistoryFailure> {
  const { policy, signal } = options;
  for (let tried = 1; ; tried++) {
    const answer = await askOnce(url, read, options);
    if (!isFailure(answer) || !PASSING.has(answer.reason) || tried >= policy.tries) return answer;
    const pauseMs = Math.max(
      policy.pauseMs * PAUSE_GROWTH ** (tried - 1),
      1000 * (answer.retryAfterSeconds ?? 0),
    );
    if (pauseMs > policy.longestPauseMs || signal.aborted) return answer;
    // An end of the caller's patience is found by the next try.
    await pauseFor(pauseMs, signal);
  }
}

/** Whether the value is a failure. */
export function isFailure(value: object): value is HistoryFailure {
  return "kind" in value && value.kind === "failed";
}

async function askOnce<Result extends object>(
  url: URL,
  read: ReadJson<Result>,
  { policy, body, headers, tooLarge, ...options }: AskOptions<Result>,
): Promise<Result | HistoryFailure> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(policy.timeoutMs)]);
  try {
    const response = await fetch(url, requestOf({ body, headers, signal }));
    const refusal = refusalOf(response);
    if (refusal !== null) {
      await response.body?.cancel();
      return response.status === TOO_LARGE && tooLarge !== undefined ? tooLarge : refusal;
    }
    const text = await readText(response, MAX_BYTES);
    if (text === null)
      return tooLarge ?? historyFailure("malformed", `the answer is larger than ${MAX_BYTES} bytes`);
    const json = parse(text);
    return json === undefined ? historyFailure("malformed", "the answer is not JSON") : read(json);
  } catch (error) {
    return brokenOff(error, signal);
  }
}

const TOO_LARGE = 413;

/** A request to a configured source: with a body a POST. */
export function requestOf({
  body,
  headers,
  signal,
}: {
  readonly body: object | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
}): RequestInit {
  const same = {
    signal,
    // A key in the URL or in a header must not travel on.
    redirect: "error" as const,
    headers: { accept: "application/json", ...headers },
  };
  if (body === undefined) return same;
  const content = { ...same.headers, "content-type": "application/json" };
  return { ...same, method: "POST", headers: content, body: JSON.stringify(body) };
}

/** The failure of a request that threw. */
export function brokenOff(error: unknown, signal: AbortSignal): HistoryFailure {
  if (signal.aborted) return historyFailure("timeout", "no whole answer in time");
  return historyFailure("unavailable", `the connection failed: ${causeOf(error)}`);
}

/** The failure that an answer's status is; null for a success. */
export function refusalOf(response: Response): HistoryFailure | null {
  const { status, headers } = response;
  if (response.ok) return null;
  const passing = status === 408 || status >= 500;
  const reason = status === 429 ? "rate_limited" : passing ? "unavailable" : "refused";
  const wait = headers.get("retry-after") ?? headers.get("x-ratelimit-reset");
  const retryAfterSeconds = retryAfter(wait, headers.get("date"));
  return { kind: "failed", reason, detail: `HTTP status ${status}`, retryAfterSeconds };
}

/** Seconds, or a date, which counts from the source's own clock (RFC 9110 section 10.2.3); null where there is neither. */
function retryAfter(value: string | null, date: string | null): number | null {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - Date.parse(date ?? "")) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
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
  /** Result of a node that has no such method or keeps no state so old; without it that is a failure. */
  readonly refused?: Result;
};

/** Asks a node one JSON-RPC question, again after failures that may pass; every failure is a value. */
export async function askNode<Result extends object>(
  { url, policy = ASK_POLICY }: NodeOptions,
  { method, params, read, refused }: NodeCall<Result>,
  signal: AbortSignal,
): Promise<Result | HistoryFailure> {
  const { timeoutMs, tries, pauseMs, longestPauseMs } = policy;
  const limits = { timeoutMs, retries: tries - 1, retryMs: pauseMs, longestPauseMs, maxBytes: MAX_BYTES };
  const isRefusal = ({ kind }: NodeFailure) => kind === "state_missing" || kind === "method_missing";
  const retriesOn = (failure: NodeFailure) => refused === undefined || !isRefusal(failure);
  try {
    return read(await createNodeClient({ ...limits, url, signal, retriesOn }).request(method, params));
  } catch (error) {
    if (signal.aborted) return historyFailure("timeout", "no whole answer in time");
    if (!(error instanceof NodeFailure)) throw error;
    const { kind, code, retryAfterMs } = error;
    if (refused !== undefined && isRefusal(error)) return refused;
    const retryAfterSeconds = retryAfterMs === null ? null : retryAfterMs / 1_000;
    // Without the node's own words, which may hold its URL.
    const detail = `${method}: ${kind}${code === null ? "" : `, error ${code}`}`;
    return { kind: "failed", reason: REASONS[kind] ?? "refused", detail, retryAfterSeconds };
  }
}

/** Every other failure is a refusal: asking again changes nothing. */
const REASONS: Readonly<Partial<Record<NodeFailure["kind"], HistoryFailure["reason"]>>> = {
  unreachable: "unavailable",
  unknown: "unavailable",
  node_behind: "unavailable",
  timeout: "timeout",
  rate_limited: "rate_limited",
  too_many_results: "malformed",
  garbage: "malformed",
};

/** A block's number as JSON-RPC has it. */
export function blockTag({ blockNumber }: AsOf): string {
  return `0x${blockNumber.toString(16)}`;
}

/** Number of transactions that a wallet had sent by a block; null if the node has no state of that block. */
export function countSentBy(options: NodeOptions): HistorySource["countSent"] {
  return ({ wallet, asOf }, signal) =>
    askNode<{ readonly count: number | null }>(
      options,
      {
        method: "eth_getTransactionCount",
        params: [wallet, blockTag(asOf)],
        read: (result) =>
          readAs(
            count.transform((sent) => ({ count: sent })),
            result,
            "the node returned no count",
          ),
        refused: { count: null },
      },
      signal,
    );
}

/** Returns an answer as its schema reads it, or the fault that the schema finds. */
export function readAs<Value extends object>(
  schema: z.ZodType<Value>,
  answer: unknown,
  fault: string,
): Value | HistoryFailure {
  const { data } = schema.safeParse(answer);
  return data ?? historyFailure("malformed", fault);
}

/** The rows of a page, or the failure of the first one that cannot be read. */
export function readRows<Item>(
  items: readonly Item[],
  read: (item: Item, at: number) => SourceRow | HistoryFailure,
): readonly SourceRow[] | HistoryFailure {
  const rows: SourceRow[] = [];
  for (const [at, item] of items.entries()) {
    const row = read(item, at);
    if (isFailure(row)) return row;
    rows.push(row);
  }
  return rows;
}

/** Most digits of a 256-bit number. */
const decimal = z.string().regex(/^\d{1,78}$/);

/** A 256-bit number in decimal digits. */
export const decimalBigint = decimal.transform(BigInt);
/** A number in decimal digits that fits a double exactly. */
export const decimalNumber = decimal.transform(Number).pipe(z.int().nonnegative());
/** Calldata, whole bytes. */
export const bytes = z.string().regex(/^0x(?:[0-9a-f]{2})*$/i);

/** An own call as the model reads it, without its receipt's logs; the rollup's settlement fee is part of its fee. */
export function numberedCall(
  facts: Omit<OwnCall, "position" | "fee" | "receipt" | keyof ReturnType<typeof calldataOf>> & {
    readonly wallet: Address;
    readonly nonce: number;
    readonly input: string;
    readonly settlementFee: bigint;
  },
): NumberedCall {
  const { wallet, nonce, input, settlementFee, ...same } = facts;
  const fee = facts.gasUsed * facts.gasPrice + settlementFee;
  return { nonce, call: { ...same, ...calldataOf(facts), position: 0, fee, receipt: null } };
}
