import type { Faults } from "../faults.ts";
import { pick, type Random } from "../random.ts";

/** Outcome of one request: an answer, a free refusal, or none yet, to be asked again. */
export type Asked =
  | { readonly kind: "answered"; readonly body: string; readonly headers: Headers }
  | { readonly kind: "refused"; readonly status: number; readonly body: string }
  /** 402: to be paid, with the terms. */
  | { readonly kind: "unpaid"; readonly body: string }
  | { readonly kind: "again"; readonly waitMs: number; readonly claim: string | null };

export type Ask = (request: {
  method: "GET" | "POST";
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
}) => Promise<Asked>;

/** A server ends a request in 45 s, and what is paid for beforehand 20 s later. */
const HANG_MS = 75_000;
const LONGEST_WAIT_MS = 1_000;
const UNREACHABLE_WAIT_MS = 150;
/** Those that say when to ask again. */
const RETRIED = new Set([409, 429, 503]);

/** Sends one request to any of the servers; whatever is no clear answer is noted as a fault. */
export function createAsk({
  servers,
  random,
  faults,
  statuses,
}: {
  /** One of the servers that run, each time another. */
  servers: () => readonly string[];
  random: Random;
  faults: Faults;
  /** How often each status was answered; 0 is for no answer. */
  statuses: Map<number, number>;
}): Ask {
  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  return async ({ method, path, headers, body }) => {
    const running = servers();
    if (running.length === 0) return again(UNREACHABLE_WAIT_MS);
    const url = `${pick(random, running)}${path}`;
    const signal = AbortSignal.timeout(HANG_MS);
    try {
      const response = await fetch(url, { method, headers: { ...headers }, body, signal });
      const text = await response.text();
      count(response.status);
      return judge({ asked: `${method} ${path}`, response, text }, faults);
    } catch (error) {
      count(0);
      if (signal.aborted) faults.note(`${method} hangs`, `${path}: no answer within ${HANG_MS} ms`);
      // A server that was killed, or is not back yet.
      else if (!isDisconnected(error)) throw error;
      return again(UNREACHABLE_WAIT_MS);
    }
  };
}

function judge(
  { asked, response, text }: { asked: string; response: Response; text: string },
  faults: Faults,
): Asked {
  const { status, headers } = response;
  if (status === 200) return { kind: "answered", body: text, headers };
  if (status === 402) return { kind: "unpaid", body: text };
  if (RETRIED.has(status)) {
    const seconds = Number(headers.get("retry-after") ?? Number.NaN);
    if (!Number.isFinite(seconds)) faults.note(`${status} without Retry-After`, `${asked}: ${text}`);
    if (headers.get("content-type") !== "application/problem+json")
      faults.note(`${status} without a problem`, `${asked}: ${text}`);
    const waitMs = Number.isFinite(seconds) ? Math.min(seconds * 1_000, LONGEST_WAIT_MS) : LONGEST_WAIT_MS;
    return { kind: "again", waitMs, claim: claimOf(text) };
  }
  if (status >= 500) {
    faults.note(`${status}`, `${asked}: ${text}`);
    return again(LONGEST_WAIT_MS);
  }
  return { kind: "refused", status, body: text };
}

function again(waitMs: number): Asked {
  return { kind: "again", waitMs, claim: null };
}

function claimOf(text: string): string | null {
  try {
    const { claim } = JSON.parse(text) as { claim?: unknown };
    return typeof claim === "string" ? claim : null;
  } catch {
    return null;
  }
}

/** Errors of undici for a refused or broken connection. */
function isDisconnected(error: unknown): boolean {
  return error instanceof TypeError;
}
