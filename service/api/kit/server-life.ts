/** The server as its requests see it. */
export type ServerLife = {
  /** Whether load balancers should send no more requests here; those that come are answered. */
  readonly leaving: boolean;
  /** Whether the server refuses new requests. */
  readonly draining: boolean;
  /** Fires when unpaid requests are cut off. */
  readonly stopping: AbortSignal;
  /** Counts a request; call the returned function once, when the request ends. */
  enter(): () => void;
};

/** The server as the process that stops it sees it. */
export type ServerEnding = {
  leave(): void;
  drain(): void;
  stop(): void;
  /** Resolves once no request is under way. */
  idle(): Promise<void>;
};

export function createServerLife(): ServerLife & ServerEnding {
  const controller = new AbortController();
  let leaving = false;
  let draining = false;
  let underWay = 0;
  const waiting = new Set<() => void>();
  const leave = () => {
    underWay -= 1;
    if (underWay > 0) return;
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  return {
    get leaving() {
      return leaving;
    },
    get draining() {
      return draining;
    },
    stopping: controller.signal,
    enter() {
      underWay += 1;
      return leave;
    },
    leave() {
      leaving = true;
    },
    drain() {
      draining = true;
    },
    stop() {
      draining = true;
      controller.abort();
    },
    idle: () =>
      underWay === 0 ? Promise.resolve() : new Promise<void>((resolve) => void waiting.add(resolve)),
  };
}
