import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";

/** First and longest pause after failures in a row, in milliseconds; it doubles in between. */
export type Backoff = { readonly first: number; readonly longest: number };

const RETRY_MS: Backoff = { first: 1_000, longest: 30_000 };
/** Part of a pause after a failure that chance takes off, so that processes do not retry at the same time. */
const JITTER = 0.2;

type Loop<Result> = {
  readonly logger: Pick<Logger, "error">;
  /** Subject of the log line about a failed pass: "scoring" gives "scoring failed; trying again". */
  readonly what: string;
  readonly signal: AbortSignal;
  /** One pass. A pass without end calls `onProgress` when it works again after failures. */
  readonly pass: (onProgress: () => void) => Promise<Result>;
  /** Milliseconds between a pass and the next one. */
  readonly pauseMs: number | ((result: Result) => number);
  /** Pauses after failures, 1 to 30 seconds by default; no pause is shorter than a fixed `pauseMs`. */
  readonly retryMs?: Backoff;
  /**
   * Counts and logs a failure in place of the error line. Returns the milliseconds for which the failed service asked to be left
   * alone, or 0. An error that it throws ends the loop.
   */
  readonly onFailure?: (error: unknown) => number;
  /** Deadline of the next pass in milliseconds. Such a pass is not awaited after the deadline, nor after the signal. */
  readonly passMs?: () => number;
  /** Waits between passes; default: for the whole time. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly random?: () => number;
};

/** Repeats a pass until the signal fires. A failed pass is logged and retried after a pause that grows with failures in a row. */
export async function runLoop<Result>(loop: Loop<Result>): Promise<void> {
  const { signal, pass, pauseMs, retryMs = RETRY_MS, passMs, wait = pauseFor, random = Math.random } = loop;
  const { onFailure = (error: unknown) => logFailure(loop, error) } = loop;
  let failures = 0;
  const onProgress = () => {
    failures = 0;
  };
  while (!signal.aborted) {
    let restMs: number;
    try {
      const result = await (passMs === undefined
        ? pass(onProgress)
        : inTime(pass(onProgress), passMs(), signal));
      restMs = typeof pauseMs === "number" ? pauseMs : pauseMs(result);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      const least = Math.max(onFailure(error), typeof pauseMs === "number" ? pauseMs : 0);
      restMs = Math.max(least, pauseAfter(failures, retryMs) * (1 - JITTER * random()));
      failures += 1;
    }
    await wait(restMs, signal);
  }
}

function logFailure({ logger, what }: Pick<Loop<unknown>, "logger" | "what">, error: unknown): number {
  logger.error({ err: error }, `${what} failed; trying again`);
  return 0;
}

/** Rejects after the given milliseconds, and as soon as the signal fires. */
async function inTime<Result>(pass: Promise<Result>, ms: number, signal: AbortSignal): Promise<Result> {
  const over = new AbortController();
  const late = pauseFor(Math.max(0, ms), AbortSignal.any([signal, over.signal])).then(() => {
    throw new Error(`no end within ${ms} ms`);
  });
  try {
    return await Promise.race([pass, late]);
  } finally {
    over.abort();
    // The loser of the race must not become an unhandled rejection.
    await Promise.allSettled([late]);
    pass.catch(() => undefined);
  }
}

/** Milliseconds to wait after the given number of earlier failures in a row. */
export function pauseAfter(failures: number, { first, longest }: Backoff): number {
  return Math.min(first * 2 ** Math.min(failures, 30), longest);
}

/** Resolves after the given milliseconds, or as soon as the signal fires. */
export async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
