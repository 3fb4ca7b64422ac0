import { type Owner, ownerText } from "../../access/access.ts";
import { type Problem, unavailable } from "../../access/problems.ts";
import { createFairSlots } from "../../db/fair-slots.ts";

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

/** Places for reads that may end without a charge, so that no caller keeps the others from them. */
export type FairTurns = {
  /** Waits for a turn of the caller and reads. Throws a 503 problem without a place in time. */
  take<Result extends object>(owner: Owner, read: () => Promise<Result>): Promise<Result>;
};

/** Callers that never paid count as one, since any number of wallets costs little. */
const NEWCOMERS = "newcomers";

/** Callers take turns by the time of their reads. Those who never paid share the turns, and leave a place to the others. */
export function createFairTurns({
  hasPaid,
  ...limits
}: Parameters<typeof createFairSlots>[0] & {
  readonly hasPaid: (owner: Owner) => Promise<boolean>;
}): FairTurns {
  const slots = createFairSlots(limits);
  return {
    async take(owner, read) {
      const caller = (await hasPaid(owner)) ? ownerText(owner) : NEWCOMERS;
      const result = await slots.run(caller, read);
      if (result === null) throw tooManyReports();
      return result;
    },
  };
}

/** The 503 of a full queue of reports. */
export function tooManyReports(): Problem {
  return unavailable("scoring-unavailable", "This server computes as many reports as it can.", {
    retryAfterSeconds: TURN_RETRY_SECONDS,
  });
}
