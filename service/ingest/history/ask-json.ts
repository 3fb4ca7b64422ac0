import { setTimeout as sleep } from "node:timers/promises";
import { type HistoryFailure, historyFailure } from "./history-source.ts";

export type JsonQuestion = {
  /** Of the operator's configuration, so it is not guarded. */
  readonly url: URL;
  /** Sent by POST; without one it is a GET. */
  readonly body?: string;
};

/** Turns the JSON of an answer into what is wanted, or says why it cannot. */
export type ReadJson<Result> = (json: unknown) => Result | HistoryFailure;

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
