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
  /** An error in words and with a code that no rule here knows: nothing follows from it. */
  | "unknown"
  /** The answer would be, or was, larger than the node or we allow. */
  | "too_many_results"
  | "method_missing"
  /** The node keeps no state or history of a block so old. */
  | "state_missing"
  /** The call that the node was to try fails in the EVM: it reverts, or runs out of gas. */
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

/** The failures behind errors that stand for them where viem is the caller. */
const behind = new WeakMap<Error, NodeFailure>();

/** A node gave no usable answer. Its texts are safe to store: short, without control characters, URLs and keys. */
export class NodeFailure extends Error {
  override readonly name = "NodeFailure";
  readonly kind: NodeFailureKind;
  /** The message without the kind. */
  readonly detail: string;
  /** Pause in milliseconds that the node asked for; null without one. */
  readonly retryAfterMs: number | null;
  /** Code of the JSON-RPC error; null if the node returned none, or one that is not believed. */
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
    if (more.cause instanceof Error) behind.set(more.cause, this);
  }

  /** True if the same request may succeed later. */
  get mayPass(): boolean {
    return PASSING.has(this.kind);
  }

  /** True if the node judged the request itself. Any other failure says nothing about the request. */
  get isVerdict(): boolean {
    return this.code !== null && (this.kind === "reverted" || this.kind === "refused");
  }

  /** True if a request for less may succeed. */
  get fitsWhenSmaller(): boolean {
    return this.kind === "too_many_results" || this.kind === "timeout" || this.kind === "unknown";
  }
}

const PASSING: ReadonlySet<NodeFailureKind> = new Set(["unreachable", "rate_limited", "timeout", "unknown"]);

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
  [
    /execution reverted|vm exception|vm execution error|\brevert(ed)?\b|out ?of ?gas|gas required exceeds|invalid ?(opcode|fe ?opcode|jump)|opcode ?not ?found|stack ?(over|under)flow/i,
    "reverted",
  ],
  [
    /missing trie node|no state available|(world|historical) state|state.{0,80}(not available|unavailable|not found|discarded)|prun(ed|ing)|archive|block ?out ?of ?range/i,
    "state_missing",
  ],
  [
    /(unknown|missing|not found|invalid).{0,10}block|header not found|block.{0,20}(not found|out of range)|beyond.{0,10}head/i,
    "node_behind",
  ],
  [
    /more than [\d,]+ (results|logs)|too many (results|logs|blocks)|logs matched|(response|result|log).{0,12}(size|too (large|big))|smaller than size|block range|ranges? over|(exceeds? (the )?|max )range|(range|result set).{0,20}(too|exceed|large|wide|limit)|max(imum)? (results|logs|block)|(limit|most|maximum).{0,40}(blocks|range)|payload too large/i,
    "too_many_results",
  ],
  [
    /rate.?limit|rate exceeded|too many requests|(request|credits) limit|concurrent requests|over capacity|compute units|quota|throttl|daily request count/i,
    "rate_limited",
  ],
  [
    /(method|\b(debug|eth|ots|trace)_\w+).{0,60}(not (found|supported|available|exist|implemented|whitelisted|allowed)|does not exist|unsupported)/i,
    "method_missing",
  ],
  [/time.?d? ?out|deadline exceeded|took too long/i, "timeout"],
  [
    /exceeds (the )?(block )?gas limit|gas limit too high|intrinsic gas|initcode size|oversized data|negative value|transaction type|priority fee per gas higher|invalid (argument|chain ?id|input|json|params|request|sender|signature|transaction)|parse error|(too many|required) arguments?/i,
    "refused",
  ],
];

const METHOD_NOT_FOUND = new Set([-32601, -32004]);
const EXECUTION_REVERTED = 3;
/** By code, for words that are not known. -32007 and -32012 are QuickNode's; -32012, -32016, -32017 are those of proxyd, the proxy of the OP stack. */
const RATE_LIMITED = new Set([429, -32029, -32007, -32012, -32016, -32017]);
const LIMIT_EXCEEDED = -32005;
/** Of proxyd: a block that one of its nodes lacks. */
const BLOCK_OUT_OF_RANGE = -32019;
/** Methods whose answers have no bound of size. */
const BULKY = new Set(["eth_getLogs", "eth_getBlockReceipts"]);
/** Internal error, resource not found, resource unavailable; of proxyd: no healthy node behind it, or no valid answer. */
const NODE_TROUBLE = new Set([-32603, -32002, -32001, -32010, -32011, -32013, -32018, -32020]);

/** A JSON-RPC error object as a node returned it. */
type RpcError = { readonly code: number; readonly message: string; readonly data?: unknown };

/** The failure behind a JSON-RPC error object, with the HTTP status and headers that came with it. */
export function failureOfRpcError(
  method: string,
  error: RpcError,
  more: { readonly cause?: Error; readonly status?: number; readonly headers?: Headers } = {},
): NodeFailure {
  const message = error.message.slice(0, 300);
  const { code, data } = error;
  const { cause, status = 200, headers } = more;
  const kind = kindOf(method, error);
  const text = `${method}: ${message} (code ${code})`;
  const retryAfterMs = retryAfterOf(headers);
  // A status of 5xx is trouble of the node whatever the body says, but for the size of what was asked.
  if (status >= 500) {
    const isOfSize = kind === "too_many_results" && BULKY.has(method);
    const trouble = isOfSize || kind === "timeout" || kind === "rate_limited" ? kind : kindOfStatus(status);
    return new NodeFailure(trouble, `${text}, HTTP ${status}`, { cause, retryAfterMs });
  }
  const isLimit = kind === "unknown" && status === 429;
  return new NodeFailure(isLimit ? "rate_limited" : kind, text, { code, data, cause, retryAfterMs });
}

function kindOf(method: string, { code, message }: RpcError): NodeFailureKind {
  if (code === EXECUTION_REVERTED) return "reverted";
  const known = kindOfWords(message);
  if (known !== null) return known;
  if (METHOD_NOT_FOUND.has(code)) return "method_missing";
  if (RATE_LIMITED.has(code)) return "rate_limited";
  if (code === LIMIT_EXCEEDED) return BULKY.has(method) ? "too_many_results" : "rate_limited";
  if (code === BLOCK_OUT_OF_RANGE) return "node_behind";
  return NODE_TROUBLE.has(code) ? "unreachable" : "unknown";
}

function kindOfWords(text: string): NodeFailureKind | null {
  return MESSAGES.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}

/** The failure behind an error of viem; null for an error that no node caused. */
export function nodeFailureOf(error: unknown): NodeFailure | null {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < 10; depth += 1) {
    if (cause instanceof NodeFailure) return cause;
    const known = behind.get(cause);
    if (known !== undefined) return known;
    if (cause instanceof RpcRequestError) {
      const { code, details: message, data } = cause;
      return failureOfRpcError("the node", { code, message, data }, { cause });
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
  if (status === undefined)
    return new NodeFailure(error.cause instanceof SyntaxError ? "garbage" : "unreachable", text, cause);
  return new NodeFailure(kindOfPage(status, details), text, {
    ...cause,
    retryAfterMs: retryAfterOf(headers),
  });
}

/** The kind of an answer that is no JSON-RPC answer. It may name a limit of the request; no call was tried for it. */
function kindOfPage(status: number, details: string): NodeFailureKind {
  const byStatus = kindOfStatus(status);
  const byWords = kindOfWords(details);
  if (byWords === null || byWords === "reverted" || byWords === "refused") return byStatus;
  return byStatus === "refused" || byStatus === "unknown" ? byWords : byStatus;
}

/** Failure by the status alone: 5xx is trouble of the node, and these of 4xx are refusals of the caller. */
function kindOfStatus(status: number): NodeFailureKind {
  if (status === 429) return "rate_limited";
  if (status === 413) return "too_many_results";
  if (status === 408 || status === 504) return "timeout";
  if (status === 401 || status === 403 || status === 404 || status === 405) return "refused";
  return status >= 400 && status < 500 ? "unknown" : "unreachable";
}

/** Milliseconds of a Retry-After header in seconds; null for none or a date. */
function retryAfterOf(headers: Headers | undefined): number | null {
  const seconds = headers?.get("retry-after") ?? "";
  return /^\d{1,5}$/.test(seconds) ? Number(seconds) * 1000 : null;
}
