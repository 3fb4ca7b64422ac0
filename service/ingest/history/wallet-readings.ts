import type { Address } from "viem";
import type { HistoryRequest, KeptHistory } from "./history.ts";
import { type HistoryFailure, type HistorySource, historyFailure } from "./history-source.ts";
import { keepNewest } from "./kept-histories.ts";
import { readHistory } from "./read-history.ts";
import { createSlots } from "./slots.ts";
import type { WalkLimits } from "./walk-pages.ts";

export type ReadingLimits = WalkLimits & {
  /** Wallets read at the same time, and wallets that wait for that. */
  readonly maxReading: number;
  readonly maxWaiting: number;
  /** Reading one wallet takes no longer than this, waiting not included. */
  readonly readMs: number;
  /** A failure holds for this time, or as long as the source wants to be left alone, up to the longest. */
  readonly failureMs: number;
  readonly longestFailureMs: number;
  /** Calls kept over all wallets, the most recently used wallets'. */
  readonly maxKeptCalls: number;
};

export type WalletReadingsOptions = {
  readonly source: HistorySource;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly limits: ReadingLimits;
};

type Reading = Promise<KeptHistory | HistoryFailure>;

export type WalletReadings = {
  /** What is kept of a wallet; null if nothing is. */
  readonly known: (wallet: Address) => KeptHistory | null;
  /** The failure that still holds for a wallet; null if none does. */
  readonly failed: (wallet: Address) => HistoryFailure | null;
  /** The reading of a wallet that runs or waits; null if none does. */
  readonly running: (wallet: Address) => Reading | null;
  /** Starts a reading of a wallet that has none; never rejects. */
  readonly begin: (request: HistoryRequest) => Reading;
  /** Ends all readings; resolves when none is left. */
  readonly close: () => Promise<void>;
};

type PastFailure = { readonly failure: HistoryFailure; readonly until: number };

/** Runs readings, few at once, and keeps what they found and for a while how they failed. */
export function createWalletReadings({ source, now, limits }: WalletReadingsOptions): WalletReadings {
  const kept = keepNewest(limits.maxKeptCalls);
  const failures = new Map<Address, PastFailure>();
  const readings = new Map<Address, Reading>();
  const slots = createSlots(limits.maxReading, limits.maxWaiting);
  const closing = new AbortController();

  const readInSlot = (request: HistoryRequest): Reading =>
    slots.run(() => {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(limits.readMs)]);
      return untilAborted(readHistory(kept.get(request.wallet), request, { source, limits, signal }), signal);
    });

  const read = async (request: HistoryRequest): Reading => {
    const { wallet } = request;
    const outcome = await readInSlot(request).catch(failureOfThrown);
    readings.delete(wallet);
    if (outcome.kind === "kept") kept.set(wallet, outcome);
    else if (outcome.reason !== "busy") {
      forgetBefore(failures, now());
      failures.set(wallet, { failure: outcome, until: now() + holdMs(outcome, limits) });
    }
    return outcome;
  };

  return {
    known: kept.get,
    failed: (wallet) => {
      forgetBefore(failures, now());
      return failures.get(wallet)?.failure ?? null;
    },
    running: (wallet) => readings.get(wallet) ?? null,
    begin: (request) => {
      const reading = read(request);
      readings.set(request.wallet, reading);
      return reading;
    },
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

/** A source must answer with values; whatever it throws instead must not pass for a history either. */
function failureOfThrown(error: unknown): HistoryFailure {
  const name = error instanceof Error ? error.name : typeof error;
  return historyFailure("unavailable", `the source threw ${name}`);
}

function holdMs(
  { retryAfterSeconds }: HistoryFailure,
  { failureMs, longestFailureMs }: ReadingLimits,
): number {
  return Math.min(longestFailureMs, Math.max(failureMs, 1000 * (retryAfterSeconds ?? 0)));
}

function forgetBefore(failures: Map<Address, PastFailure>, now: number): void {
  for (const [wallet, { until }] of failures) if (until <= now) failures.delete(wallet);
}
