import { HttpRequestError, ResponseBodyTooLargeError } from "viem";

/** What kept a range from being enriched; all but `too_many_results` and `timeout`, which a smaller range or leaving something out cures, wait for the node. */
export type EnrichFailureKind =
  /** No answer at all, or one that speaks of the node's own trouble. */
  | "unreachable"
  /** The answer took longer than its deadline. */
  | "timeout"
  /** The node asks for fewer requests. */
  | "rate_limited"
  /** The answer would be, or was, larger than the node or we allow. */
  | "too_many_results"
  /** The node does not know the method. */
  | "method_missing"
  /** The call that the node was to try reverts. */
  | "reverted"
  /** The node refuses the request itself. */
  | "refused"
  /** The answer has not the form of one. */
  | "garbage"
  /** The node does not hold the range yet. */
  | "node_behind"
  /** The node's blocks are not the ones that the cursor or the index stands on. */
  | "other_chain"
  /** Answers that contradict the index or one another. */
  | "inconsistent";

/** A range could not be read; nothing of it is stored, and the cursor does not move. */
export class EnrichFailure extends Error {
  override readonly name = "EnrichFailure";
  readonly kind: EnrichFailureKind;
  /** Milliseconds that the node asked to be left alone for; null where it did not say. */
  readonly retryAfterMs: number | null;

  constructor(
    kind: EnrichFailureKind,
    message: string,
    more: { readonly cause?: unknown; readonly retryAfterMs?: number | null } = {},
  ) {
    super(`${kind}: ${message}`, { cause: more.cause });
    this.kind = kind;
    this.retryAfterMs = more.retryAfterMs ?? null;
  }
}

/** Node and provider wordings by meaning; the first match counts. Limits of size come before limits of rate: some share a code. */
const MESSAGES: readonly (readonly [RegExp, EnrichFailureKind])[] = [
  [/execution reverted|vm execution error.{0,20}revert|\brevert(ed)?\b/i, "reverted"],
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
const RATE_LIMITED = new Set([429, -32029]);
const LIMIT_EXCEEDED = -32005;
/** Internal error, resource not found, resource unavailable: the node's trouble, not the request's. */
const NODE_TROUBLE = new Set([-32603, -32002, -32001, -32000]);

/** The failure behind a JSON-RPC error object. */
export function failureOfRpcError(
  method: string,
  error: { readonly code: number; readonly message: string },
): EnrichFailure {
  const text = `${method}: ${error.message.slice(0, 300)} (code ${error.code})`;
  return new EnrichFailure(kindOf(error), text);
}

function kindOf({ code, message }: { readonly code: number; readonly message: string }): EnrichFailureKind {
  if (METHOD_NOT_FOUND.has(code)) return "method_missing";
  const known = MESSAGES.find(([pattern]) => pattern.test(message));
  if (known !== undefined) return known[1];
  if (RATE_LIMITED.has(code)) return "rate_limited";
  if (code === LIMIT_EXCEEDED) return "too_many_results";
  return NODE_TROUBLE.has(code) ? "unreachable" : "refused";
}

/** Classifies an error of an HTTP request without a JSON-RPC answer. */
export function failureOfHttpError(method: string, error: unknown): EnrichFailure {
  const cause = { cause: error };
  if (error instanceof ResponseBodyTooLargeError)
    return new EnrichFailure("too_many_results", `${method}: ${error.message}`, cause);
  if (!(error instanceof HttpRequestError))
    return new EnrichFailure("unreachable", `${method}: ${String(error)}`, cause);
  const { status, headers, details } = error;
  const text = `${method}: HTTP ${status ?? "without an answer"}: ${details.slice(0, 300)}`;
  if (status === 429)
    return new EnrichFailure("rate_limited", text, { ...cause, retryAfterMs: retryAfterOf(headers) });
  if (status === 413) return new EnrichFailure("too_many_results", text, cause);
  if (status === 408 || status === 504) return new EnrichFailure("timeout", text, cause);
  if (error.cause instanceof SyntaxError) return new EnrichFailure("garbage", text, cause);
  if (status !== undefined && status >= 400 && status < 500) {
    const known = MESSAGES.find(([pattern]) => pattern.test(details));
    return new EnrichFailure(known?.[1] ?? "refused", text, cause);
  }
  return new EnrichFailure("unreachable", text, cause);
}

/** Milliseconds of a Retry-After header in seconds; null for none or a date. */
function retryAfterOf(headers: Headers | undefined): number | null {
  const seconds = headers?.get("retry-after");
  return seconds !== null && seconds !== undefined && /^\d{1,5}$/.test(seconds)
    ? Number(seconds) * 1000
    : null;
}
