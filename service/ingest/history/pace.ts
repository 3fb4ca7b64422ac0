import { pauseFor } from "../../db/run-loop.ts";

/** Waits until one more request may start, or the signal fires. */
export type Pace = (signal: AbortSignal) => Promise<void>;

/** At most so many starts within any such time, in the order of the callers. */
export function createPace(
  { requests, perMs }: { readonly requests: number; readonly perMs: number },
  now = () => performance.now(),
): Pace {
  const starts: number[] = [];
  return async (signal) => {
    const oldest = starts.length < requests ? null : (starts.shift() ?? null);
    const at = now();
    const start = oldest === null ? at : Math.max(at, oldest + perMs);
    starts.push(start);
    if (start > at) await pauseFor(start - at, signal);
  };
}
