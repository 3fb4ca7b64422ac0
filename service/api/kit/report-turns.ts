import { type Problem, unavailable } from "../../access/problems.ts";

/** A queue for report reads, so that many reports do not block other requests. */
export type ReportTurns = {
  /** Whether one more read would start or fit into the queue. */
  hasRoom(): boolean;
  /** Waits for a turn and reads. Throws a 503 problem if the queue is full or the wait is too long. */
  take<Result>(read: () => Promise<Result>): Promise<Result>;
};

const TURN_RETRY_SECONDS = 5;

/** A queue that serves reads in the order of their arrival. */
export function createReportTurns({
  atOnce,
  waiting,
  waitMs,
}: {
  readonly atOnce: number;
  readonly waiting: number;
  /** Milliseconds. */
  readonly waitMs: number;
}): ReportTurns {
  const queue: (() => void)[] = [];
  let running = 0;

  function turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (queue.length >= waiting) {
        reject(tooManyReports());
        return;
      }
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(enter), 1);
        reject(tooManyReports());
      }, waitMs);
      queue.push(enter);
    });
  }

  return {
    hasRoom: () => running < atOnce || queue.length < waiting,
    async take(read) {
      if (running < atOnce) running += 1;
      else await turn();
      try {
        return await read();
      } finally {
        const next = queue.shift();
        // The longest waiting read takes over the place.
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}

/** The 503 of a full queue of reports. */
export function tooManyReports(): Problem {
  return unavailable("scoring-unavailable", "This server computes as many reports as it can.", {
    retryAfterSeconds: TURN_RETRY_SECONDS,
  });
}
