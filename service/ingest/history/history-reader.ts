import { answerFrom, type History, type HistoryRequest, planHistory } from "./history.ts";
import type { HistoryFailure, HistorySource } from "./history-source.ts";
import { createWalletReadings, type ReadingLimits } from "./wallet-readings.ts";

export type HistoryLimits = ReadingLimits & {
  /** A caller waits no longer than this. */
  readonly answerMs: number;
};

export const HISTORY_LIMITS: HistoryLimits = {
  maxPages: 20,
  maxTransactions: 10_000,
  maxReading: 4,
  maxWaiting: 64,
  answerMs: 8_000,
  // Longer than 20 pages take at a few seconds each, or 200 of a wallet that others crowd at half a second.
  readMs: 120_000,
  failureMs: 30_000,
  longestFailureMs: 600_000,
  // About 90 MB.
  maxKeptCalls: 200_000,
};

/** The reading goes on; asking again later joins it or finds its result. */
type StillRunning = { readonly kind: "running" };

export type HistoryReader = {
  /** The history of a wallet, that it is still running after the time that a caller waits, or why there is none. */
  readonly read: (request: HistoryRequest) => Promise<History | StillRunning | HistoryFailure>;
  /** Ends all reading; resolves when none is left. */
  readonly close: () => Promise<void>;
};

export type HistoryReaderOptions = {
  readonly source: HistorySource;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly limits?: HistoryLimits;
};

/** Reads histories from one source: one reading per wallet, which callers join, few at once, results and failures kept. */
export function createHistoryReader(options: HistoryReaderOptions): HistoryReader {
  const { source, now, limits = HISTORY_LIMITS } = options;
  const readings = createWalletReadings({ source, now, limits });

  const answer = async (
    request: HistoryRequest,
    patience: Promise<StillRunning>,
  ): Promise<History | StillRunning | HistoryFailure> => {
    for (;;) {
      const known = readings.known(request.wallet);
      if (known !== null && planHistory(known, request) === "answer") {
        return answerFrom(known, request, source.name);
      }
      const joined = readings.running(request.wallet);
      const failure = joined === null ? readings.failed(request.wallet) : null;
      if (failure !== null) return failure;
      const outcome = await Promise.race([joined ?? readings.begin(request), patience]);
      if (outcome.kind !== "kept") return outcome;
      if (joined === null) return answerFrom(outcome, request, source.name);
      // What another caller asked for may reach less far than this one needs: then it is this one's turn.
    }
  };

  return {
    read: async (request) => {
      const patience = Promise.withResolvers<StillRunning>();
      const timer = setTimeout(() => patience.resolve({ kind: "running" }), limits.answerMs);
      try {
        return await answer(request, patience.promise);
      } finally {
        clearTimeout(timer);
      }
    },
    close: readings.close,
  };
}
