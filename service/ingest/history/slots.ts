import { type HistoryFailure, historyFailure } from "./history-source.ts";

export type Slots = {
  /** Runs the work as soon as a slot is free; fails at once where too many wait already. */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result | HistoryFailure>;
};

/** Lets so many works run at a time and so many more wait, first come first served. */
export function createSlots(maxRunning: number, maxWaiting: number): Slots {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    run: async (work) => {
      if (running >= maxRunning) {
        if (waiting.length >= maxWaiting) {
          return historyFailure("busy", `${maxWaiting} wallets wait for their history already`);
        }
        // Who leaves hands the slot on, so that nobody who comes in between takes it.
        await new Promise<void>((resolve) => waiting.push(resolve));
      } else {
        running++;
      }
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) running--;
        else next();
      }
    },
  };
}
