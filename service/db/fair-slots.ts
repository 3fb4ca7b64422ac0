/** Callers whose unpaid time is remembered, the longest unused forgotten first. */
const MOST_CALLERS = 100_000;

type Waiting = { readonly caller: string | null; readonly enter: (isGranted: boolean) => void };

/**
 * Lets so many works run at a time and so many more wait. A free place goes to the caller whose works have taken the least time since the
 * last one that it paid for, in order of arrival among equals. No caller has all places. In a full queue the work of the caller with the most
 * time, or with the most works that wait, gives way. A caller of null is this service, which has no limit of its own.
 */
export function createFairSlots({
  maxRunning,
  maxWaiting,
  waitMs = null,
  now,
}: {
  readonly maxRunning: number;
  readonly maxWaiting: number;
  /** Longest wait for a place; null for any. */
  readonly waitMs?: number | null;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}) {
  const unpaidMs = new Map<string, number>();
  const running = new Map<string, number>();
  let waiting: Waiting[] = [];
  let free = maxRunning;

  const timeOf = (caller: string | null) => (caller === null ? 0 : (unpaidMs.get(caller) ?? 0));
  const waitingOf = (caller: string | null) => waiting.filter((other) => other.caller === caller).length;
  const mayRun = (caller: string | null) =>
    free > 0 && (caller === null || (running.get(caller) ?? 0) < Math.max(1, maxRunning - 1));

  const start = (caller: string | null): void => {
    free -= 1;
    if (caller !== null) running.set(caller, (running.get(caller) ?? 0) + 1);
  };
  const end = (caller: string | null, startedMs: number): void => {
    free += 1;
    if (caller !== null) {
      const left = (running.get(caller) ?? 0) - 1;
      if (left > 0) running.set(caller, left);
      else running.delete(caller);
      addTime(caller, now() - startedMs);
    }
    for (;;) {
      const next = waiting
        .filter((one) => mayRun(one.caller))
        .reduce<Waiting | null>(
          (best, one) => (best === null || timeOf(one.caller) < timeOf(best.caller) ? one : best),
          null,
        );
      if (next === null) return;
      waiting = waiting.filter((one) => one !== next);
      // Taken before the work goes on, so that a newcomer cannot take it.
      start(next.caller);
      next.enter(true);
    }
  };
  const addTime = (caller: string, ms: number): void => {
    const sum = timeOf(caller) + ms;
    unpaidMs.delete(caller);
    unpaidMs.set(caller, sum);
    for (const [oldest] of unpaidMs) {
      if (unpaidMs.size <= MOST_CALLERS) return;
      unpaidMs.delete(oldest);
    }
  };
  /** The work that gives way to one of this caller; null if its own does. */
  const weakest = (caller: string | null): Waiting | null => {
    const burden = (of: string | null) => [timeOf(of), waitingOf(of)] as const;
    const isHeavier = (a: readonly [number, number], b: readonly [number, number]) =>
      a[0] > b[0] || (a[0] === b[0] && a[1] > b[1]);
    const worst = waiting.reduce<Waiting | null>(
      (most, one) => (most === null || !isHeavier(burden(most.caller), burden(one.caller)) ? one : most),
      null,
    );
    const own = [timeOf(caller), waitingOf(caller) + 1] as const;
    return worst !== null && isHeavier(burden(worst.caller), own) ? worst : null;
  };
  const wait = (caller: string | null): Promise<boolean> => {
    if (waiting.length >= maxWaiting) {
      const worst = weakest(caller);
      if (worst === null) return Promise.resolve(false);
      waiting = waiting.filter((one) => one !== worst);
      worst.enter(false);
    }
    return new Promise((resolve) => {
      const enter = (isGranted: boolean) => {
        clearTimeout(timer);
        resolve(isGranted);
      };
      const one = { caller, enter };
      const leave = () => {
        waiting = waiting.filter((other) => other !== one);
        resolve(false);
      };
      const timer = waitMs === null ? undefined : setTimeout(leave, waitMs);
      waiting.push(one);
    });
  };

  return {
    /** Runs a work in its turn; null if it got no place. */
    run: async <Result>(caller: string | null, work: () => Promise<Result>): Promise<Result | null> => {
      if (mayRun(caller)) start(caller);
      else if (!(await wait(caller))) return null;
      const startedMs = now();
      try {
        return await work();
      } finally {
        end(caller, startedMs);
      }
    },
    /** The caller pays for an answer: the time of its works is paid for. */
    forgive: (caller: string | null): void => {
      if (caller !== null) unpaidMs.delete(caller);
    },
  };
}
