import OpenAI, { APIConnectionError, APIError } from "openai";
import type { ModelOutcome } from "./model-port.ts";

/** A model server and the key for it; null sends no key. */
export type ModelServer = {
  /** https, or http on this machine. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
};

/** The library's client with nothing of the environment in it; throws where the base URL or the key cannot be used safely. */
export function createOpenaiClient({ baseUrl, apiKey }: ModelServer): OpenAI {
  if (!isSafeBaseUrl(baseUrl))
    throw new Error("The panel's base URL is neither https nor http on this machine");
  if (apiKey !== null && !isHeaderText(apiKey))
    throw new Error("The panel's key has characters that no header takes");
  return new OpenAI({
    baseURL: baseUrl,
    // The fetch sends the key, or none; the library insists on one.
    apiKey: "sent-by-fetch",
    ...{ adminAPIKey: null, organization: null, project: null, webhookSecret: null },
    fetch: createBoundedFetch(apiKey),
    maxRetries: 0,
    logLevel: "off",
  });
}

/** Far more than an answer of any model; what is longer is no answer. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Whether a key may travel to this URL: it is https, or http to this machine, and holds no name or password. */
export function isSafeBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

/** Whether every character may stand in a header; a fetch would repeat the others in its error. */
function isHeaderText(text: string): boolean {
  return /^[\x21-\x7E]+$/.test(text);
}

/**
 * A fetch for one server: it sends JSON and the key, and none of the headers that a library adds by itself; follows no redirect, so
 * that the key goes nowhere else; and reads 8 MiB at most. Rejects as fetch does, and where the answer is larger.
 */
function createBoundedFetch(apiKey: string | null): typeof fetch {
  const headers = new Headers({ accept: "application/json", "content-type": "application/json" });
  if (apiKey !== null) headers.set("authorization", `Bearer ${apiKey}`);
  return async (input, init) => {
    const response = await fetch(input, { ...init, headers, redirect: "error" });
    const { status, headers: told } = response;
    const body = await readBounded(response);
    return new Response(body.length === 0 ? null : body, { status, headers: told });
  };
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

async function readBounded(response: Response): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    // Leaving the loop cancels the body.
    if (length > MAX_BYTES) throw new Error(`The model server's answer is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

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
function causeOf(error: unknown): string {
  let cause: unknown = error;
  for (let depth = 0; depth < 4 && cause instanceof Error; depth += 1) {
    if ("code" in cause && typeof cause.code === "string") return cause.code;
    if (cause.message === REDIRECTED) return "a redirect, which is not followed";
    cause = cause.cause;
  }
  return "no code given";
}

/** Whether the model server answers us; the detail names a status or an error code alone, and is null where it does. */
export type ModelReachability = { readonly isReachable: boolean; readonly detail: string | null };

/** Readiness waits for it. */
const PROBE_MS = 2_000;
/** The server knows us not, or will not serve us. */
const UNUSABLE = new Set([401, 403, 407]);

/**
 * A probe that lists the server's models, which costs nothing, within 2 s; whoever offers it to others keeps its answer for a while.
 * A server that has no such list but answers is reachable. Never rejects.
 */
export function createModelProbe(server: ModelServer): () => Promise<ModelReachability> {
  const client = createOpenaiClient(server);
  return () => probe(client);
}

async function probe(client: ReturnType<typeof createOpenaiClient>): Promise<ModelReachability> {
  const signal = AbortSignal.timeout(PROBE_MS);
  try {
    await client.models.list({ signal });
    return { isReachable: true, detail: null };
  } catch (error) {
    if (signal.aborted) return { isReachable: false, detail: `no answer within ${PROBE_MS / 1_000} s` };
    // An answer that is no JSON is one all the same.
    if (!(error instanceof APIError)) return { isReachable: true, detail: null };
    if (error.status === undefined)
      return { isReachable: false, detail: `the connection failed (${causeOf(error)})` };
    const isUsable = error.status < 500 && error.status !== 429 && !UNUSABLE.has(error.status);
    return isUsable
      ? { isReachable: true, detail: null }
      : { isReachable: false, detail: `HTTP status ${error.status}` };
  }
}
