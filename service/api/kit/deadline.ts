import { type Problem, unavailable } from "../../access/problems.ts";

/** Deadline of one request. */
export type Deadline = {
  /**
   * The result of running work. Throws a 503 problem if the deadline passes or the server stops first. The work then continues,
   * and its result is dropped.
   */
  wait<Result>(work: Promise<Result>): Promise<Result>;
};

/** Limits that end the work of requests early. */
export type RequestLimits = {
  /** Fires when the server stops. */
  readonly stopping: AbortSignal;
  /** Starts the time of a request. */
  startDeadline(): Deadline;
};

const RETRY_AFTER_SECONDS = 5;

/** Limits of all requests of a server. All share one abort listener, because one each would cost as much as a read. */
export function createRequestLimits({
  deadlineMs,
  stopping,
  clock,
}: {
  /** Milliseconds that preparing and doing the work may take together. */
  readonly deadlineMs: number;
  readonly stopping: AbortSignal;
  readonly clock: { monotonicMs(): number };
}): RequestLimits {
  const waiting = new Set<(problem: Problem) => void>();
  stopping.addEventListener("abort", () => {
    for (const reject of waiting) reject(draining());
  });

  function waitUntil<Result>(work: Promise<Result>, endsAt: number): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (stopping.aborted) reject(draining());
      waiting.add(reject);
      const timer = setTimeout(() => reject(late(deadlineMs)), Math.max(0, endsAt - clock.monotonicMs()));
      const forget = () => {
        clearTimeout(timer);
        waiting.delete(reject);
      };
      work.then(
        (result) => {
          forget();
          resolve(result);
        },
        (error: unknown) => {
          forget();
          reject(error);
        },
      );
    });
  }

  return {
    stopping,
    startDeadline() {
      const endsAt = clock.monotonicMs() + deadlineMs;
      return { wait: (work) => waitUntil(work, endsAt) };
    },
  };
}

/** The 503 of a server that shuts down. */
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
