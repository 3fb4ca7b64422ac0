import type { Logger } from "pino";
import { type Database, QUERY_DEADLINE } from "./database.ts";
import { runLoop } from "./run-loop.ts";

/** Clocks of a machine. */
export type MachineClock = {
  /** Milliseconds from an arbitrary start, never going back. */
  monotonicMs(): number;
  /** Milliseconds since 1970, as the machine is set. */
  dateMs(): number;
};

/** The database's time, which dates everything that processes share. */
export type DatabaseClock = Pick<MachineClock, "monotonicMs"> & {
  now(): Date;
  /** Seconds by which the machine's date is ahead of the database's time; negative if it is behind. */
  aheadSeconds(): number;
  /** Measures again. Throws if the database does not answer. */
  renew(): Promise<void>;
};

/** Bounds of the database's time minus the monotonic clock, in milliseconds. */
type Offset = { readonly least: number; readonly most: number; readonly measuredAt: number };

/** Most that clocks drift apart, in milliseconds per millisecond: the limit of Linux's own corrections (adjtimex). */
const DRIFT = 0.000_5;
/** The first round trip on a connection is the slowest. */
const FIRST_SAMPLES = 3;

/**
 * Measures the database's time and continues it by the monotonic clock, so that the machine's date changes nothing.
 * An error is at most half a round trip. Throws if the database does not answer.
 */
export async function openDatabaseClock(
  db: Pick<Database, "$client">,
  machine: MachineClock,
): Promise<DatabaseClock> {
  let offset = await measure(db, machine);
  const renew = async () => {
    offset = narrowed(offset, await measure(db, machine));
  };
  for (let sample = 1; sample < FIRST_SAMPLES; sample += 1) await renew();
  const nowMs = () => machine.monotonicMs() + (offset.least + offset.most) / 2;
  return {
    monotonicMs: machine.monotonicMs,
    now: () => new Date(nowMs()),
    aheadSeconds: () => (machine.dateMs() - nowMs()) / 1_000,
    renew,
  };
}

async function measure(
  { $client }: Pick<Database, "$client">,
  { monotonicMs }: MachineClock,
): Promise<Offset> {
  const client = await $client.connect();
  let failure: unknown = null;
  try {
    const asked = monotonicMs();
    const { rows } = await client.query<{ readonly ms: number }>({
      ...QUERY_DEADLINE,
      text: "select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms",
    });
    const measuredAt = monotonicMs();
    const [row] = rows;
    if (row === undefined) throw new Error("the database did not say its time");
    return { least: row.ms - measuredAt, most: row.ms - asked, measuredAt };
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    client.release(failure !== null);
  }
}

/**
 * Narrows a known offset by a new measurement. Where both exclude each other, the new one is right: the
 * database's clock was set, or the machine was suspended.
 */
function narrowed(known: Offset, measured: Offset): Offset {
  const drift = DRIFT * (measured.measuredAt - known.measuredAt);
  const least = Math.max(known.least - drift, measured.least);
  const most = Math.min(known.most + drift, measured.most);
  return least <= most ? { least, most, measuredAt: measured.measuredAt } : measured;
}

const RENEW_MS = 5_000;

/** Measures the database's time again and again, and logs a machine's date that differs too much, until the signal fires. */
export async function followDatabaseClock(
  clock: DatabaseClock,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  await runLoop({
    logger,
    what: "measuring the database's time",
    signal,
    pauseMs: RENEW_MS,
    pass: async () => {
      await clock.renew();
      const fault = clockFault(clock.aheadSeconds());
      if (fault !== null) logger.error(fault);
    },
  });
}

const MOST_AHEAD_SECONDS = 5;

/** Says that a machine's date differs too much from the database's time, by the seconds that it is ahead; null if it does not. */
export function clockFault(aheadSeconds: number): string | null {
  if (Math.abs(aheadSeconds) <= MOST_AHEAD_SECONDS) return null;
  const side = aheadSeconds < 0 ? "behind" : "ahead of";
  return `this machine's clock is ${Math.abs(Math.round(aheadSeconds))} s ${side} the database's, at most ${MOST_AHEAD_SECONDS} s are allowed`;
}
