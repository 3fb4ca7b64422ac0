import OpenAI, { APIConnectionError, APIError } from "openai";
import type { ModelOutcome } from "./model-port.ts";

/** A model server (https, or http on this machine) and the key for it; null sends no key. */
export type ModelServer = { baseUrl: string; apiKey: string | null };

/**
 * Creates the library's client without any setting from the environment. `send` takes the place of a fetch that reads at most `maxBytes` of
 * an answer. Throws if the base URL or the key is unsafe.
 */
export function createOpenaiClient(
  { baseUrl, apiKey }: ModelServer,
  {
    send,
    maxBytes = MAX_BYTES,
  }: { readonly send?: typeof fetch | undefined; readonly maxBytes?: number } = {},
): OpenAI {
  if (!isSafeBaseUrl(baseUrl))
    throw new Error("The panel's base URL is neither https nor http on this machine");
  if (apiKey !== null && !isHeaderText(apiKey))
    throw new Error("The panel's key has characters that no header takes");
  return new OpenAI({
    baseURL: baseUrl,
    // The fetch sends the real key, but the library requires one.
    apiKey: "sent-by-fetch",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    fetch: send ?? createBoundedFetch(apiKey, maxBytes),
    maxRetries: 0,
    logLevel: "off",
  });
}

/** Far above the size of any model's answer. */
const MAX_BYTES = 8 * 1024 * 1024;

/** True if a key may be sent to this URL: https, or http to this machine, without a user name or password. */
export function isSafeBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

/** True if every character is allowed in a header. Otherwise fetch would repeat the key in its error. */
function isHeaderText(text: string): boolean {
  return /^[\x21-\x7E]+$/.test(text);
}

/**
 * Creates a fetch for one server. It sends JSON or a form, the key and no header of the library, follows no redirect, so that the key stays
 * with this server, and reads at most so many bytes. Rejects like fetch, and if the answer is larger.
 */
function createBoundedFetch(apiKey: string | null, maxBytes: number): typeof fetch {
  return async (input, init) => {
    const headers = new Headers({ accept: "application/json" });
    // The fetch itself names the type of a form.
    if (!(init?.body instanceof FormData)) headers.set("content-type", "application/json");
    if (apiKey !== null) headers.set("authorization", `Bearer ${apiKey}`);
    const response = await fetch(input, { ...init, headers, redirect: "error" });
    const { status, headers: received } = response;
    const body = await readBounded(response, maxBytes);
    return new Response(body.length === 0 ? null : body, { status, headers: received });
  };
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

async function readBounded(response: Response, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    // Leaving the loop cancels the body.
    if (length > maxBytes) throw new Error(`The model server's answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * How to go on after a failed request: ask again in another form, or take it as the outcome. `passing`: another attempt may succeed, after
 * `retryAfterMs` if the server names a time.
 */
export type ModelError =
  | { kind: "adapt"; without: "json_schema" | "max_completion_tokens" }
  | {
      kind: "outcome";
      outcome: ModelOutcome;
      passing: boolean;
      retryAfterMs: number | null;
      /** True if a model may have read the question, so that its tokens may be charged. */
      mayBeRead: boolean;
    };

/** Statuses for an unknown or unsupported part of a request. */
const NOT_TAKEN = new Set([400, 404, 415, 422, 501]);
const PASSING = new Set([408, 409, 425, 429]);
const SCHEMA = /response_format|json_schema|structured.?output|guided.?(?:json|decoding)|grammar/i;
const LIMIT = /max_completion_tokens/i;
const TOO_LONG =
  /context_length_exceeded|context.?(?:length|window|size)|maximum context|too many (?:input )?tokens|prompt is too long|input is too long/i;
const FILTER = /content_filter|content_policy|responsible.?ai/i;
/** The model behind the gateway may have answered. */
const GATEWAY_TIMEOUT = 504;
/** Errors of an open connection. A connection that never opened has sent no question. */
const BROKEN_OFF = /^(?:ECONNRESET|EPIPE|UND_ERR_(?:SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT)|no code given)$/;
/** Waiting does not pay the bill. */
const QUOTA = /insufficient_quota|billing/i;

/** Classifies an error of the client library. The detail holds the status and a code word, never the server's text. */
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

function failed(kind: Exclude<ModelOutcome["kind"], "text">, detail: string, passing: boolean) {
  const outcome = { kind, detail };
  return { kind: "outcome", outcome, passing, retryAfterMs: null, mayBeRead: false } as const;
}

/** A failed connection or an unreadable answer; another attempt may succeed if it is passing. */
export function unavailable(detail: string, mayBeRead: boolean, passing = true): ModelError {
  return { ...failed("unavailable", detail, passing), mayBeRead };
}

/** Retry-After by RFC 9110 in milliseconds: seconds or a date; null for anything else. */
function retryAfter(headers: Headers | undefined, now: Date): number | null {
  const text = headers?.get("retry-after")?.trim() ?? "";
  if (/^\d{1,10}(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const date = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now.getTime());
}

/** Our settings that a model may refuse. */
const SETTINGS = ["temperature", "seed"];

/** Names the refused setting and the error code if it looks like a code word. A server may echo a secret in it. */
function codeOf({ code, param }: APIError): string {
  const isWord = typeof code === "string" && /^[a-z]{2,}(_[a-z]{2,})*$/.test(code) && code.length <= 40;
  const words = [...SETTINGS.filter((name) => name === param), ...(isWord ? [code] : [])];
  return words.length === 0 ? "" : ` (${words.join(", ")})`;
}

/** Message of Node's fetch for a refused redirect; its error has no code. */
const REDIRECTED = "unexpected redirect";

/** Returns the system's error code, or that a redirect was refused. Messages are dropped, since they may hold the URL. */
function causeOf(error: unknown): string {
  let cause: unknown = error;
  for (let depth = 0; depth < 4 && cause instanceof Error; depth += 1) {
    if ("code" in cause && typeof cause.code === "string") return cause.code;
    if (cause.message === REDIRECTED) return "a redirect, which is not followed";
    cause = cause.cause;
  }
  return "no code given";
}

/** Whether the model server answers. The detail holds only a status or an error code; null if it answers. */
export type ModelReachability = { isReachable: boolean; detail: string | null };

const PROBE_MS = 2_000;
/** Statuses of a server that does not accept us. */
const UNUSABLE = new Set([401, 403, 407]);

/**
 * Creates a probe that lists the server's models within 2 s, which is free. Callers should cache its answer. A server without such a list
 * counts as reachable. Never rejects.
 */
export function createModelProbe(server: ModelServer): () => Promise<ModelReachability> {
  const client = createOpenaiClient(server);
  return async () => {
    const fault = await findFault(client);
    return { isReachable: fault === null, detail: fault };
  };
}

async function findFault(client: OpenAI): Promise<string | null> {
  const signal = AbortSignal.timeout(PROBE_MS);
  try {
    await client.models.list({ signal });
    return null;
  } catch (error) {
    if (signal.aborted) return `no answer within ${PROBE_MS / 1_000} s`;
    // An answer without JSON still shows a reachable server.
    if (!(error instanceof APIError)) return null;
    const { status } = error;
    if (status === undefined) return `the connection failed (${causeOf(error)})`;
    return status < 500 && status !== 429 && !UNUSABLE.has(status) ? null : `HTTP status ${status}`;
  }
}
