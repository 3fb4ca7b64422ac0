import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";

const FAILURE_PAUSE_MS = 3_000;

/** Does something again and again until the signal fires; a failure is logged and followed by a longer pause. */
export async function repeat(
  options: { readonly logger: Logger; readonly pauseMs: number; readonly what: string },
  signal: AbortSignal,
  act: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    let pauseMs = options.pauseMs;
    try {
      await act();
    } catch (error) {
      options.logger.error({ err: error }, `${options.what} failed; trying again`);
      pauseMs = Math.max(pauseMs, FAILURE_PAUSE_MS);
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Does all of several things one after the other, though some fail; then throws what the first of those threw. */
export async function doAll(acts: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const act of acts) {
    try {
      await act();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
