import { APIConnectionError, APIError } from "openai";
import type { ModelOutcome } from "./model-port.ts";

/**
 * What to do about a failed request: ask again in another form, or take it as the outcome. `passing`: another try may fare better,
 * after `retryAfterMs` where the server names a time.
 */
export type ModelError =
  | { readonly kind: "adapt"; readonly without: "json_schema" | "max_completion_tokens" }
  | {
      readonly kind: "outcome";
      readonly outcome: ModelOutcome;
      readonly passing: boolean;
      readonly retryAfterMs: number | null;
      /** Whether a model may have read the question nonetheless, and its tokens be charged. */
      readonly mayBeRead: boolean;
    };

/** Statuses by which servers say that they do not know, or do not take, something of a request. */
const NOT_TAKEN = new Set([400, 404, 415, 422, 501]);
const PASSING = new Set([408, 409, 425, 429]);
const SCHEMA = /response_format|json_schema|structured.?output|guided.?(?:json|decoding)|grammar/i;
const LIMIT = /max_completion_tokens/i;
const TOO_LONG =
  /context_length_exceeded|context.?(?:length|window|size)|maximum context|too many (?:input )?tokens|prompt is too long|input is too long/i;
const FILTER = /content_filter|content_policy|responsible.?ai/i;
/** The gateway gave up, and the model behind it may have answered. */
const GATEWAY_TIMEOUT = 504;
/** How a connection ends that stood. One that never stood has carried no question. */
const BROKEN_OFF = /^(?:ECONNRESET|EPIPE|UND_ERR_(?:SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT)|no code given)$/;
/** Waiting does not bring money. */
const QUOTA = /insufficient_quota|billing/i;

/** Reads an error of the client library. What it tells names the status and a code word, and never the server's sentences. */
export function classifyModelError(error: unknown, now: Date): ModelError {
  if (!(error instanceof APIError)) return unavailable("an answer that is no JSON", true);
  if (error instanceof APIConnectionError || error.status === undefined) {
    const cause = causeOf(error);
    return unavailable(`the connection failed (${cause})`, BROKEN_OFF.test(cause));
  }
  const { status } = error;
  const words = `${String(error.code ?? "")} ${String(error.param ?? "")} ${error.message}`;
  const detail = `HTTP status ${status}${codeOf(error)}`;
  if (NOT_TAKEN.has(status)) {
    if (SCHEMA.test(words)) return { kind: "adapt", without: "json_schema" };
    if (LIMIT.test(words)) return { kind: "adapt", without: "max_completion_tokens" };
  }
  if (status === 413 || (status < 500 && status !== 429 && TOO_LONG.test(words)))
    return failed("too_long", detail, false);
  if (status < 500 && FILTER.test(words)) return failed("refused", detail, false);
  if (PASSING.has(status) || status >= 500) {
    const retryAfterMs = retryAfter(error.headers, now);
    const mayBeRead = status === GATEWAY_TIMEOUT;
    return { ...failed("unavailable", detail, !QUOTA.test(words)), retryAfterMs, mayBeRead };
  }
  return failed("rejected", detail, false);
}

type Failure = Exclude<ModelOutcome["kind"], "text">;

function failed(kind: Failure, detail: string, passing: boolean) {
  return {
    kind: "outcome",
    outcome: { kind, detail },
    passing,
    retryAfterMs: null,
    mayBeRead: false,
  } as const;
}

function unavailable(detail: string, mayBeRead: boolean): ModelError {
  return { ...failed("unavailable", detail, true), mayBeRead };
}

/** Retry-After by RFC 9110, in milliseconds from now: seconds, or a date; null where it is neither. */
function retryAfter(headers: Headers | undefined, now: Date): number | null {
  const text = headers?.get("retry-after")?.trim() ?? "";
  if (/^\d{1,10}(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const date = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now.getTime());
}

/** Settings of ours that a model may not take. */
const SETTINGS = ["temperature", "seed"];

/** Which setting of ours is meant, and only what looks like a code word and no key; a server may repeat in it what it was sent. */
function codeOf({ code, param }: APIError): string {
  const isWord = typeof code === "string" && /^[a-z]{2,}(_[a-z]{2,})*$/.test(code) && code.length <= 40;
  const words = [...SETTINGS.filter((name) => name === param), ...(isWord ? [code] : [])];
  return words.length === 0 ? "" : ` (${words.join(", ")})`;
}

/** What Node's fetch says where we follow no redirect; its error has no code. */
const REDIRECTED = "unexpected redirect";

/** The code of the system's error behind one alone, or that it was a redirect: messages may hold the URL. */
export function causeOf(error: unknown): string {
  let cause: unknown = error;
  for (let depth = 0; depth < 4 && cause instanceof Error; depth += 1) {
    if ("code" in cause && typeof cause.code === "string") return cause.code;
    if (cause.message === REDIRECTED) return "a redirect, which is not followed";
    cause = cause.cause;
  }
  return "no code given";
}
