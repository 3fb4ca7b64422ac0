import type { EventFate } from "./webhook-events.ts";

/** Result of an attempt: an answer with any status, or none. */
export type AttemptOutcome =
  | { kind: "answered"; status: number; retryAfter: string | null }
  | { readonly kind: "failed"; readonly detail: string };

/** A number from 0 to 1, 1 left out. */
export type Random = () => number;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits between attempts, as Standard Webhooks 1.0.0 proposes: eight attempts in 31.5 hours. */
const WAITS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
] as const;
/** In both directions, so that events that failed together are not retried together. */
const JITTER = 0.1;
const OVERLOADED: ReadonlySet<number> = new Set([429, 502, 504]);
/** Counts as overload only with Retry-After; otherwise it is an ordinary failure. */
const UNAVAILABLE = 503;
const GONE = 410;
const HOLD_MS = MINUTE_MS;
const LONGEST_HOLD_MS = 6 * HOUR_MS;

/**
 * Decides the fate of an event after an attempt; `before` is the number of earlier attempts. Only a 2xx delivers, 410
 * ends it for good, and other results are retried until the waits are used up. Retry-After of an overloaded endpoint
 * pauses it for a second to six hours.
 */
export function fateOf(
  outcome: AttemptOutcome,
  { before, now }: { readonly before: number; readonly now: Date },
  random: Random,
): EventFate {
  if (outcome.kind === "answered" && isSuccess(outcome.status)) return { kind: "delivered" };
  const reason = failureOf(outcome);
  if (outcome.kind === "answered" && outcome.status === GONE) return { kind: "refused", reason };
  const waitMs = WAITS_MS[before];
  if (waitMs === undefined) return { kind: "exhausted", reason: `${reason} That was the last attempt.` };
  const holdMs = holdOf(outcome, now);
  const wait = Math.max(jittered(waitMs, random), holdMs ?? 0);
  return {
    kind: "retry",
    at: new Date(now.getTime() + wait),
    holdUntil: holdMs === null ? null : new Date(now.getTime() + holdMs),
  };
}

/** Why an attempt does not count as delivered, in a sentence for the owner of the endpoint. */
export function failureOf(outcome: AttemptOutcome): string {
  return outcome.kind === "failed" ? outcome.detail : `The endpoint answered ${outcome.status}.`;
}

/** A redirect is no success: it is not followed. */
function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function holdOf(outcome: AttemptOutcome, now: Date): number | null {
  if (outcome.kind === "failed") return null;
  const asked = retryAfterMs(outcome.retryAfter, now);
  if (asked === null) return OVERLOADED.has(outcome.status) ? HOLD_MS : null;
  if (!OVERLOADED.has(outcome.status) && outcome.status !== UNAVAILABLE) return null;
  return Math.min(LONGEST_HOLD_MS, Math.max(SECOND_MS, asked));
}

/** Retry-After by RFC 9110: seconds, or a date; null where it is neither. */
function retryAfterMs(header: string | null, now: Date): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text) * SECOND_MS;
  // An HTTP date begins with a weekday; Date.parse would accept too much.
  const date = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : date - now.getTime();
}

function jittered(ms: number, random: Random): number {
  return Math.round(ms * (1 - JITTER + 2 * JITTER * random()));
}
