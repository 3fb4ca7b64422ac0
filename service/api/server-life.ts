/** How requests see the server that answers them. */
export type ServerLife = {
  /** Whether it takes no new requests any more. */
  readonly draining: boolean;
  /** Fires when what is not paid for by then is no longer waited for. */
  readonly stopping: AbortSignal;
  /** A request begins; call what it answers once, at its end. */
  enter(): () => void;
};

/** How the process ends it. */
export type ServerEnding = {
  drain(): void;
  stop(): void;
  /** Resolves once no request is under way. */
  idle(): Promise<void>;
};

/** A server that has just begun. */
export function createServerLife(): ServerLife & ServerEnding {
  const controller = new AbortController();
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
    get draining() {
      return draining;
    },
    stopping: controller.signal,
    enter() {
      underWay += 1;
      return leave;
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
