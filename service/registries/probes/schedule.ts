const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const QUARTER_MS = 15 * MINUTE_MS;
/** An endpoint that failed for so long costs a visit each hour: dead ones, of which there may be any number, cost least. */
const DEAD_AFTER_MS = DAY_MS;
const DEAD_QUARTERS = 4;
const FIRST_RETRY_MS = MINUTE_MS;
/** Documents are read again between 02:00 and 06:00 UTC. */
const NIGHT_STARTS_MS = 2 * HOUR_MS;
const NIGHT_MS = 4 * HOUR_MS;
/** Either way, so that what began together does not stay together. */
const JITTER = 0.1;

/** A number from 0 to 1, 1 left out. */
export type Random = () => number;

/** A visit that was made, and since when the endpoint had failed before it; null where it had not. */
type MadeVisit = { readonly at: Date; readonly isAlive: boolean; readonly failingSince: Date | null };

type NextVisit = {
  readonly nextAt: Date;
  readonly failingSince: Date | null;
  /** Quarter hours until then. */
  readonly quarters: number;
};

/**
 * When an endpoint is visited again: a quarter of an hour later, an hour where it has failed for a day, either a tenth more or
 * less. One answer makes it alive.
 */
export function nextVisit({ at, isAlive, ...before }: MadeVisit, random: Random): NextVisit {
  const failingSince = isAlive ? null : (before.failingSince ?? at);
  const isDead = failingSince !== null && at.getTime() - failingSince.getTime() >= DEAD_AFTER_MS;
  const quarters = isDead ? DEAD_QUARTERS : 1;
  return {
    nextAt: new Date(at.getTime() + jittered(quarters * QUARTER_MS, random)),
    failingSince,
    quarters,
  };
}

/** When a document that was read is read again: some time in the next night. */
export function nextNightAt(now: Date, random: Random): Date {
  const midnight = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const tonight = midnight + NIGHT_STARTS_MS;
  const start = tonight > now.getTime() ? tonight : tonight + DAY_MS;
  return new Date(start + Math.floor(random() * NIGHT_MS));
}

/** When a document is tried again after so many failures in a row: a minute after the first, then doubling up to a day. */
export function nextTryAt(now: Date, failures: number, random: Random): Date {
  const waitMs = Math.min(DAY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 30));
  return new Date(now.getTime() + Math.min(DAY_MS, jittered(waitMs, random)));
}

function jittered(ms: number, random: Random): number {
  return Math.round(ms * (1 - JITTER + 2 * JITTER * random()));
}
