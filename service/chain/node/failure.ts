import {
  type Hex,
  HttpRequestError,
  isHex,
  ResponseBodyTooLargeError,
  RpcRequestError,
  TimeoutError,
} from "viem";

/** Why a node gave no usable answer. The last three are findings of readers, not words of the node. */
export type NodeFailureKind =
  /** No answer at all, or one that speaks of the node's own trouble. */
  | "unreachable"
  | "timeout"
  | "rate_limited"
  /** The answer would be, or was, larger than the node or we allow. */
  | "too_many_results"
  | "method_missing"
  /** The call that the node was to try reverts. */
  | "reverted"
  /** The node refuses the request itself. */
  | "refused"
  /** The answer has not the form of one. */
  | "garbage"
  /** The node does not hold the range yet. */
  | "node_behind"
  /** The node's blocks differ from those behind the cursor or the index. */
  | "other_chain"
  /** Answers that contradict the index or one another. */
  | "inconsistent";

/** A node gave no usable answer. Its texts are safe to store: short, without control characters, URLs and keys. */
export class NodeFailure extends Error {
  override readonly name = "NodeFailure";
  readonly kind: NodeFailureKind;
  /** The message without the kind. */
  readonly detail: string;
  /** Pause in milliseconds that the node asked for; null without one. */
  readonly retryAfterMs: number | null;
  /** Code of the JSON-RPC error; null if the node returned none. */
  readonly code: number | null;
  /** Data of a revert, if the node returned it. */
  readonly data: Hex | null;

  constructor(
    kind: NodeFailureKind,
    detail: string,
    more: { cause?: unknown; retryAfterMs?: number | null; code?: number; data?: unknown } = {},
  ) {
    const safe = safeDetail(detail);
    super(`${kind}: ${safe}`, { cause: more.cause });
    this.kind = kind;
    this.detail = safe;
    this.retryAfterMs = more.retryAfterMs ?? null;
    this.code = more.code ?? null;
    this.data = isHex(more.data) ? more.data : null;
  }

  /** True if the same request may succeed later. */
  get mayPass(): boolean {
    return this.kind === "unreachable" || this.kind === "rate_limited" || this.kind === "timeout";
  }

  /** True if the node failed before it judged the request: it gave no JSON-RPC answer, is in trouble, or lags behind. */
  get isOfNode(): boolean {
    return this.code === null || this.mayPass || this.kind === "node_behind";
  }
}

const LONGEST_DETAIL = 500;
/** Characters that are cleaned. A key across the end of the detail is replaced before the detail is cut. */
const READ_CHARACTERS = 4 * LONGEST_DETAIL;
const URLS = /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'`<>]+/gi;
/** Keys of providers: long segments of letters and digits. Hex with its prefix and plain numbers are values of the chain. */
const KEYS = /(?<![\w-])(?!0x)(?=[\w-]{0,200}\d)(?=[\w-]{0,200}[A-Za-z])[\w-]{24,}/g;

/**
 * Cleans words of a node for logs and the database. PostgreSQL stores no NUL, nodes print the arguments of custom errors raw, and
 * proxies repeat the URL of the request, which may contain a key.
 */
export function safeDetail(text: string): string {
  return text
    .slice(0, READ_CHARACTERS)
    .replace(URLS, "(URL)")
    .replace(KEYS, "(key)")
    .replaceAll(/\p{Cc}+/gu, "…")
    .slice(0, LONGEST_DETAIL);
}

/** Node and provider wordings by meaning; the first match counts. Limits of size come before limits of rate: some share a code. */
const MESSAGES: readonly (readonly [RegExp, NodeFailureKind])[] = [
  [/execution reverted|vm exception|vm execution error.{0,20}revert|\brevert(ed)?\b/i, "reverted"],
  [
    /(unknown|missing|not found|invalid).{0,10}block|header not found|block.{0,20}not found|beyond.{0,10}head/i,
    "node_behind",
  ],
  [
    /more than [\d,]+ (results|logs)|too many (results|logs)|(response|log).{0,12}size|block range|(range|result set).{0,20}(too|exceed|large|wide|limit)|max(imum)? (results|logs|block)|limit.{0,20}(blocks|range)|payload too large/i,
    "too_many_results",
  ],
  [
    /rate.?limit|too many requests|request limit|compute units|quota|throttl|daily request count/i,
    "rate_limited",
  ],
  [
    /method.{0,60}(not (found|supported|available|exist|implemented|whitelisted)|does not exist|unsupported)/i,
    "method_missing",
  ],
  [/time.?d? ?out|deadline exceeded|took too long/i, "timeout"],
];

const METHOD_NOT_FOUND = new Set([-32601, -32004]);
const EXECUTION_REVERTED = 3;
const RATE_LIMITED = new Set([429, -32029]);
const LIMIT_EXCEEDED = -32005;
/** Methods whose answers have no bound of size. */
const BULKY = new Set(["eth_getLogs", "eth_getBlockReceipts"]);
/** Internal error, resource not found, resource unavailable: the node's trouble, not the request's. */
const NODE_TROUBLE = new Set([-32603, -32002, -32001]);
/** Of a call or a transaction, it speaks of that; of a read, of the node. */
const SERVER_ERROR = -32000;
const READ = /^(eth_(get|block)|ots_)/;

/** The failure behind a JSON-RPC error object. */
export function failureOfRpcError(
  method: string,
  error: { code: number; message: string; data?: unknown },
  cause?: Error,
): NodeFailure {
  const message = error.message.slice(0, 300);
  const { code, data } = error;
  return new NodeFailure(kindOf(method, error), `${method}: ${message} (code ${code})`, {
    code,
    data,
    cause,
  });
}

function kindOf(method: string, { code, message }: { code: number; message: string }): NodeFailureKind {
  if (METHOD_NOT_FOUND.has(code)) return "method_missing";
  if (code === EXECUTION_REVERTED) return "reverted";
  const known = MESSAGES.find(([pattern]) => pattern.test(message));
  if (known !== undefined) return known[1];
  if (RATE_LIMITED.has(code)) return "rate_limited";
  if (code === LIMIT_EXCEEDED) return BULKY.has(method) ? "too_many_results" : "rate_limited";
  const isTrouble = NODE_TROUBLE.has(code) || (code === SERVER_ERROR && READ.test(method));
  return isTrouble ? "unreachable" : "refused";
}

/** The failure behind an error of viem; null for an error that no node caused. */
export function nodeFailureOf(error: unknown): NodeFailure | null {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < 10; depth += 1) {
    if (cause instanceof NodeFailure) return cause;
    if (cause instanceof RpcRequestError) {
      const { code, details: message, data } = cause;
      return failureOfRpcError("the node", { code, message, data }, cause);
    }
    if (HTTP_ERRORS.some((kind) => cause instanceof kind)) return failureOfHttpError("the node", cause);
    cause = cause.cause;
  }
  return null;
}

const HTTP_ERRORS = [HttpRequestError, ResponseBodyTooLargeError, TimeoutError];

/** Classifies an error of an HTTP request without a JSON-RPC answer. */
export function failureOfHttpError(method: string, error: unknown): NodeFailure {
  const cause = { cause: error };
  if (error instanceof ResponseBodyTooLargeError)
    return new NodeFailure("too_many_results", `${method}: ${error.message}`, cause);
  if (error instanceof TimeoutError) return new NodeFailure("timeout", `${method}: no answer in time`, cause);
  if (!(error instanceof HttpRequestError))
    return new NodeFailure("unreachable", `${method}: ${String(error)}`, cause);
  const { status, headers, details } = error;
  const text = `${method}: HTTP ${status ?? "without an answer"}: ${details.slice(0, 300)}`;
  if (status === 429)
    return new NodeFailure("rate_limited", text, { ...cause, retryAfterMs: retryAfterOf(headers) });
  if (status === 413) return new NodeFailure("too_many_results", text, cause);
  if (status === 408 || status === 504) return new NodeFailure("timeout", text, cause);
  if (status === undefined && error.cause instanceof SyntaxError)
    return new NodeFailure("garbage", text, cause);
  if (status !== undefined && status >= 400 && status < 500) {
    const known = MESSAGES.find(([pattern]) => pattern.test(details));
    return new NodeFailure(known?.[1] ?? "refused", text, cause);
  }
  return new NodeFailure("unreachable", text, cause);
}

/** Milliseconds of a Retry-After header in seconds; null for none or a date. */
function retryAfterOf(headers: Headers | undefined): number | null {
  const seconds = headers?.get("retry-after") ?? "";
  return /^\d{1,5}$/.test(seconds) ? Number(seconds) * 1000 : null;
}
