import { type Problem, unavailable } from "../access/problems.ts";

/** Turns at reading what a report is computed from, so that a crowd of them cannot hold up everything else. */
export type ReportTurns = {
  /** Whether one more reading would start, or find a place in the queue. */
  hasRoom(): boolean;
  /** What is read, once it is its turn; throws a 503 problem where the queue is full, or its turn does not come in time. */
  take<Result>(read: () => Promise<Result>): Promise<Result>;
};

export type TurnLimits = {
  readonly atOnce: number;
  readonly waiting: number;
  /** Milliseconds. */
  readonly waitMs: number;
};

const RETRY_AFTER_SECONDS = 5;

/** Turns in the order of asking. */
export function createReportTurns({ atOnce, waiting, waitMs }: TurnLimits): ReportTurns {
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
        // The place goes to whoever waits longest.
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}

/** The 503 of a process that reads as much as it can. */
export function tooManyReports(): Problem {
  return unavailable("scoring-unavailable", "This server computes as many reports as it can.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
