import type { Address } from "viem";
import { createFairSlots } from "../../db/fair-slots.ts";
import {
  answerFrom,
  type CachedHistory,
  type History,
  type HistoryFailure,
  type HistoryRequest,
  type HistorySource,
  historyFailure,
  planHistory,
} from "./history.ts";
import { readHistory } from "./read-history.ts";

export type HistoryLimits = typeof HISTORY_LIMITS;

export const HISTORY_LIMITS = {
  maxPages: 20,
  maxTransactions: 10_000,
  /** Wallets read at the same time, and wallets that wait for that. */
  maxReading: 4,
  maxWaiting: 64,
  /** A caller waits no longer than this. */
  answerMs: 8_000,
  /**
   * Reading one wallet takes no longer than this, waiting not included: longer than 20 pages take at a few seconds each, or 200
   * of a wallet that others crowd at half a second.
   */
  readMs: 120_000,
  /** A failure holds for this time, or as long as the source wants to be left alone, up to the longest. */
  failureMs: 30_000,
  longestFailureMs: 600_000,
  /** Calls cached over all wallets, the most recently used wallets': about 90 MB. */
  maxCachedCalls: 200_000,
};

export type HistoryReader = {
  /**
   * Returns the history of a wallet, or the failure; "running" if it takes longer than a caller waits: the reading goes on, and
   * asking again later joins it or finds its result.
   */
  readonly read: (
    request: HistoryRequest,
    /** Who pays: key:ID or wallet:ADDRESS; without one, this service. Callers take turns by the time that they have not paid for. */
    caller?: string | null,
  ) => Promise<History | StillRunning | HistoryFailure>;
  /** Ends all reading; resolves when none is left. */
  readonly close: () => Promise<void>;
};

type StillRunning = { readonly kind: "running" };

/** Reads histories from one source: one reading per wallet, which callers join, few at once, results and failures cached. */
export function createHistoryReader(options: {
  readonly source: HistorySource;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly limits?: HistoryLimits;
}): HistoryReader {
  const { source, now, limits = HISTORY_LIMITS } = options;
  const readings = createWalletReadings({ source, now, limits });

  const answer = async (
    request: HistoryRequest,
    caller: string | null,
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
      const outcome = await Promise.race([joined ?? readings.begin(request, caller), patience]);
      if (outcome.kind !== "cached") return outcome;
      if (joined === null) return answerFrom(outcome, request, source.name);
      // Another caller's request may reach less far than this one: then this caller starts its own reading.
    }
  };

  return {
    read: async (request, caller = null) => {
      const patience = Promise.withResolvers<StillRunning>();
      const timer = setTimeout(() => patience.resolve({ kind: "running" }), limits.answerMs);
      try {
        const answered = await answer(request, caller, patience.promise);
        if (answered.kind === "found") readings.forgive(caller);
        return answered;
      } finally {
        clearTimeout(timer);
      }
    },
    close: readings.close,
  };
}

type Reading = Promise<CachedHistory | HistoryFailure>;

/** Runs few readings at once and caches their results, and their failures for some time. */
function createWalletReadings({
  source,
  now,
  limits,
}: {
  source: HistorySource;
  now: () => number;
  limits: HistoryLimits;
}) {
  const cached = createHistoryCache(limits.maxCachedCalls);
  const failures = new Map<Address, { readonly failure: HistoryFailure; readonly until: number }>();
  const readings = new Map<Address, Reading>();
  const { maxReading: maxRunning, maxWaiting } = limits;
  const slots = createFairSlots({ maxRunning, maxWaiting, now });
  const closing = new AbortController();

  const readInSlot = async (request: HistoryRequest, caller: string | null): Reading => {
    const outcome = await slots.run(caller, () => {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(limits.readMs)]);
      return untilAborted(
        readHistory(cached.get(request.wallet), request, { source, limits, signal }),
        signal,
      );
    });
    return outcome ?? historyFailure("busy", `${maxWaiting} wallets wait for their history already`);
  };

  const read = async (request: HistoryRequest, caller: string | null): Reading => {
    const { wallet } = request;
    const outcome = await readInSlot(request, caller).catch(failureOfThrown);
    readings.delete(wallet);
    if (outcome.kind === "cached") cached.set(wallet, outcome);
    else if (outcome.reason !== "busy") {
      forgetOver();
      failures.set(wallet, { failure: outcome, until: now() + holdMs(outcome, limits) });
    }
    return outcome;
  };
  const forgetOver = () => {
    for (const [wallet, { until }] of failures) if (until <= now()) failures.delete(wallet);
  };

  return {
    known: cached.get,
    /** The failure that still holds for a wallet; null if none does. */
    failed: (wallet: Address): HistoryFailure | null => {
      forgetOver();
      return failures.get(wallet)?.failure ?? null;
    },
    /** The reading of a wallet that runs or waits; null if none does. */
    running: (wallet: Address): Reading | null => readings.get(wallet) ?? null,
    /** Starts a reading of a wallet that has none; never rejects. */
    begin: (request: HistoryRequest, caller: string | null): Reading => {
      const reading = read(request, caller);
      readings.set(request.wallet, reading);
      return reading;
    },
    forgive: slots.forgive,
    close: async () => {
      closing.abort();
      await Promise.all(readings.values());
    },
  };
}

/** A source that does not heed the signal must not hold its slot for ever. */
async function untilAborted(reading: Reading, signal: AbortSignal): Reading {
  const aborted = Promise.withResolvers<HistoryFailure>();
  const end = () => aborted.resolve(historyFailure("timeout", "the reading took too long or was ended"));
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  return Promise.race([aborted.promise, reading]).finally(() => signal.removeEventListener("abort", end));
}

/** Sources return failures as values. An exception is a failure too, never an empty history. */
function failureOfThrown(error: unknown): HistoryFailure {
  const name = error instanceof Error ? error.name : typeof error;
  return historyFailure("unavailable", `the source threw ${name}`);
}

function holdMs({ retryAfterSeconds }: HistoryFailure, { failureMs, longestFailureMs }: HistoryLimits) {
  return Math.min(longestFailureMs, Math.max(failureMs, 1000 * (retryAfterSeconds ?? 0)));
}

/** A history weighs at least this many calls, so that empty ones are not cached without end. */
const LEAST_WEIGHT = 10;

/** Keeps histories in memory up to a number of calls in all, forgetting those unused for longest. */
function createHistoryCache(maxCalls: number) {
  /** In the order of their last use. */
  const histories = new Map<Address, CachedHistory>();
  let weight = 0;
  const remove = (wallet: Address): CachedHistory | null => {
    const history = histories.get(wallet);
    if (history === undefined) return null;
    histories.delete(wallet);
    weight -= weightOf(history);
    return history;
  };
  const add = (wallet: Address, history: CachedHistory): void => {
    histories.set(wallet, history);
    weight += weightOf(history);
  };
  return {
    /** Null where none is cached. */
    get: (wallet: Address): CachedHistory | null => {
      const history = remove(wallet);
      if (history !== null) add(wallet, history);
      return history;
    },
    set: (wallet: Address, history: CachedHistory): void => {
      remove(wallet);
      add(wallet, history);
      for (const [oldest] of histories) {
        if (weight <= maxCalls || oldest === wallet) break;
        remove(oldest);
      }
    },
  };
}

function weightOf({ calls }: CachedHistory): number {
  return Math.max(LEAST_WEIGHT, calls.length);
}
