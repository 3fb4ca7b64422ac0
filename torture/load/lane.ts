import { setTimeout as sleep } from "node:timers/promises";

/** One task of a client, requested until it is done or refused. */
export type Operation = {
  readonly startedAt: number;
  doneAt: number | null;
};

/** Clients of one kind. */
export type Lane<Done extends Operation> = {
  readonly name: string;
  /** Everything that was ever begun. */
  readonly operations: readonly Done[];
  readonly setPace: (pace: Pace) => void;
  /** Begins no more; resolves with how many are not done when the time is over. Throws what a client broke on. */
  readonly drain: (timeoutMs: number) => Promise<number>;
  readonly resume: () => void;
  /** Holds every request back until `release`; resolves once none is under way. */
  readonly hold: () => Promise<void>;
  readonly release: () => void;
  readonly stop: () => Promise<void>;
};

/** Milliseconds between two begun, and how many may be young at once. */
type Pace = { readonly everyMs: number; readonly atOnce: number };

export type LaneOptions<Done extends Operation> = {
  readonly name: string;
  readonly pace: Pace;
  /** Begins none while one is open. */
  readonly oneByOne?: boolean;
  /** Notes a new operation. */
  readonly begin: (number: number) => Done;
  /** Tries it once; answers the milliseconds to wait before the next try, or null once it is done. */
  readonly attempt: (operation: Done) => Promise<number | null>;
};

/** One that waits for longer no longer keeps others from being begun. */
const YOUNG_MS = 4_000;
const MOST_OPEN = 100;
const STOP_WAIT_MS = 3_000;
const POLL_MS = 20;

/** Runs operations at a pace, each until it is done, however long that takes. */
export function startLane<Done extends Operation>(options: LaneOptions<Done>): Lane<Done> {
  const operations: Done[] = [];
  const open = new Set<Done>();
  let pace = options.pace;
  let beginning = true;
  let held = false;
  let stopped = false;
  let underWay = 0;
  let failure: unknown = null;

  const pursue = async (operation: Done): Promise<void> => {
    while (!stopped) {
      if (held) {
        await sleep(POLL_MS);
        continue;
      }
      underWay += 1;
      const waitMs = await options.attempt(operation).finally(() => {
        underWay -= 1;
      });
      if (waitMs === null) break;
      await sleep(waitMs);
    }
    open.delete(operation);
  };
  const mayBegin = (): boolean => {
    const mostOpen = options.oneByOne === true ? 1 : MOST_OPEN;
    if (!beginning || held || open.size >= mostOpen) return false;
    const since = performance.now() - YOUNG_MS;
    return [...open].filter(({ startedAt }) => startedAt > since).length < pace.atOnce;
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      if (mayBegin()) {
        const operation = options.begin(operations.length);
        operations.push(operation);
        open.add(operation);
        pursue(operation).catch((error: unknown) => {
          failure ??= error;
        });
      }
      await sleep(pace.everyMs);
    }
  };
  const running = run();
  const until = async (isSo: () => boolean, timeoutMs: number): Promise<void> => {
    const deadline = performance.now() + timeoutMs;
    while (!isSo() && performance.now() < deadline) await sleep(POLL_MS);
  };
  return {
    name: options.name,
    operations,
    setPace: (next) => {
      pace = next;
    },
    drain: async (timeoutMs) => {
      beginning = false;
      await until(() => open.size === 0 || failure !== null, timeoutMs);
      if (failure !== null) throw failure;
      return open.size;
    },
    resume: () => {
      beginning = true;
    },
    hold: async () => {
      held = true;
      await until(() => underWay === 0, Number.POSITIVE_INFINITY);
    },
    release: () => {
      held = false;
    },
    stop: async () => {
      stopped = true;
      await running;
      // A request without an answer by then ends with its server.
      await until(() => underWay === 0, STOP_WAIT_MS);
    },
  };
}
