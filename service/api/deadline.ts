import { type Problem, unavailable } from "./problems.ts";

/** What ends the work of a request before it ends by itself. */
export type RequestLimits = {
  /** Milliseconds that preparing and doing the work may take together. */
  readonly deadlineMs: number;
  /** Fires when the server stops. */
  readonly stopping: AbortSignal;
};

/** The time that one request has left. */
export type Deadline = {
  /**
   * The result of work that is under way; throws a 503 problem when the time is over, or the server stops, before it is there.
   * What was started then goes on unheard.
   */
  wait<Result>(work: Promise<Result>): Promise<Result>;
};

const RETRY_AFTER_SECONDS = 5;

/** Starts the time of a request. */
export function startDeadline(
  { deadlineMs, stopping }: RequestLimits,
  clock: { monotonicMs(): number },
): Deadline {
  const endsAt = clock.monotonicMs() + deadlineMs;
  return {
    wait(work) {
      return new Promise((resolve, reject) => {
        const stop = () => reject(draining());
        const timer = setTimeout(() => reject(late(deadlineMs)), Math.max(0, endsAt - clock.monotonicMs()));
        if (stopping.aborted) stop();
        else stopping.addEventListener("abort", stop);
        work.then(resolve, reject).finally(() => {
          clearTimeout(timer);
          stopping.removeEventListener("abort", stop);
        });
      });
    },
  };
}

/** The 503 of a server that takes no new requests. */
export function draining(): Problem {
  return unavailable(
    "draining",
    "This server is shutting down; another one, or its successor, will answer.",
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
}

function late(deadlineMs: number): Problem {
  return unavailable("deadline-exceeded", `The work was not done within ${deadlineMs / 1_000} s.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
