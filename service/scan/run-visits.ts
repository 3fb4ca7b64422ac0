import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";

export type Visits<Item> = {
  /** What is due, in turns of the hosts; what is under way may be among it. */
  readonly due: () => Promise<readonly Item[]>;
  readonly keyOf: (item: Item) => string;
  /** Whom a visit bothers: there are never many at one host at once. */
  readonly hostOf: (item: Item) => string;
  /** Visits an item and stores what came of it, so that it is no longer due. */
  readonly visit: (item: Item, signal: AbortSignal) => Promise<void>;
  readonly what: string;
  readonly limits: VisitLimits;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
};

export type VisitLimits = {
  readonly atOnce: number;
  readonly atOnePerHost: number;
  /** Pauses in milliseconds: while there is more to do, while there is not, and before an item is tried that threw. */
  readonly busyMs: number;
  readonly idleMs: number;
  readonly restMs: number;
};

/**
 * Visits what is due until the signal fires, so many at once and so many at one host; slow hosts keep nobody waiting but
 * themselves. Never throws: what fails is logged and rests for a while.
 */
export async function runVisits<Item>(visits: Visits<Item>, signal: AbortSignal): Promise<void> {
  const { limits, logger, what } = visits;
  const round: Round<Item> = {
    underWay: new Map(),
    resting: new Map(),
    backlog: [],
    readAt: Number.NEGATIVE_INFINITY,
  };
  while (!signal.aborted) {
    let isBusy = false;
    try {
      const items = await nextItems(visits, round);
      for (const item of items) begin(item, { visits, round, signal });
      isBusy = items.length > 0 || round.backlog.length > 0 || round.underWay.size >= limits.atOnce;
    } catch (error) {
      logger.error({ err: error }, `${what}: what is due could not be read; trying again`);
    }
    await sleep(isBusy ? limits.busyMs : limits.idleMs, undefined, { signal }).catch(() => undefined);
  }
  await Promise.all([...round.underWay.values()].map(({ done }) => done));
}

type Round<Item> = {
  readonly underWay: Map<string, { readonly host: string; readonly done: Promise<void> }>;
  /** What threw, and until when it rests. */
  readonly resting: Map<string, number>;
  /** Due when it was last read, and not begun since. */
  backlog: readonly Item[];
  readAt: number;
};

/** Items to begin now: of the backlog, which is read anew once it is used up, or waits for its hosts alone. */
async function nextItems<Item>(visits: Visits<Item>, round: Round<Item>): Promise<readonly Item[]> {
  const { due, keyOf, limits, monotonicMs } = visits;
  const { underWay, resting } = round;
  if (underWay.size >= limits.atOnce) return [];
  const known = take(visits, round);
  const now = monotonicMs();
  if (known.length > 0 || (round.backlog.length > 0 && now - round.readAt < limits.idleMs)) return known;
  for (const [key, until] of resting) if (until <= now) resting.delete(key);
  // A visit that ends while what is due is being read may still be among it.
  const taken = new Set([...underWay.keys(), ...resting.keys()]);
  const items = await due();
  round.backlog = items.filter((item) => !taken.has(keyOf(item)));
  round.readAt = now;
  return take(visits, round);
}

/** Takes out of the backlog what may begin: as many as there is room for, in all and at each host. */
function take<Item>({ hostOf, limits }: Visits<Item>, round: Round<Item>): readonly Item[] {
  const perHost = new Map<string, number>();
  const count = (host: string) => perHost.get(host) ?? 0;
  for (const { host } of round.underWay.values()) perHost.set(host, count(host) + 1);
  const taken: Item[] = [];
  const left: Item[] = [];
  for (const item of round.backlog) {
    const host = hostOf(item);
    const hasRoom = round.underWay.size + taken.length < limits.atOnce && count(host) < limits.atOnePerHost;
    if (hasRoom) perHost.set(host, count(host) + 1);
    (hasRoom ? taken : left).push(item);
  }
  round.backlog = left;
  return taken;
}

function begin<Item>(
  item: Item,
  {
    visits,
    round,
    signal,
  }: { readonly visits: Visits<Item>; readonly round: Round<Item>; readonly signal: AbortSignal },
): void {
  const key = visits.keyOf(item);
  const done = visits
    .visit(item, signal)
    .catch((error: unknown) => {
      visits.logger.error({ err: error, item: key.slice(0, 200) }, `${visits.what} failed; it rests`);
      round.resting.set(key, visits.monotonicMs() + visits.limits.restMs);
    })
    .finally(() => round.underWay.delete(key));
  round.underWay.set(key, { host: visits.hostOf(item), done });
}
