import { hash } from "node:crypto";
import type { Logger } from "pino";
import { runLoop } from "./run-loop.ts";

export type Visits<Item> = {
  /** Due items, in turns of the accounts and hosts; running ones may be among them. */
  readonly due: () => Promise<readonly Item[]>;
  readonly keyOf: (item: Item) => string;
  /** The visited host: there are never many visits at one host at once. */
  readonly hostOf: (item: Item) => string;
  /** The account that a visit is made for: no account takes many places, however many hosts it names. */
  readonly accountOf: (item: Item) => string;
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
  readonly atOncePerHost: number;
  readonly atOncePerAccount: number;
  /** Pauses in milliseconds: while there is more to do, while there is not, and before an item is tried that threw. */
  readonly busyMs: number;
  readonly idleMs: number;
  readonly restMs: number;
};

/**
 * Visits what is due until the signal fires, so many at once, at one host and for one account; slow hosts delay
 * only themselves and the accounts that name them. Never throws: failures are logged, and the item rests for a while.
 */
export async function runVisits<Item>(visits: Visits<Item>, signal: AbortSignal): Promise<void> {
  const { limits, logger, what } = visits;
  const round: Round<Item> = {
    underWay: new Map(),
    resting: new Map(),
    backlog: [],
    readAt: Number.NEGATIVE_INFINITY,
  };
  await runLoop({
    logger,
    what: `reading what is due for ${what}`,
    signal,
    pauseMs: (isBusy) => (isBusy ? limits.busyMs : limits.idleMs),
    retryMs: { first: limits.idleMs, longest: limits.idleMs },
    pass: async () => {
      const items = await nextItems(visits, round);
      // Aborted visits leave room in which none may begin.
      if (signal.aborted) return false;
      for (const item of items) begin(item, { visits, round, signal });
      return items.length > 0 || round.backlog.length > 0 || round.underWay.size >= limits.atOnce;
    },
  });
  await Promise.all([...round.underWay.values()].map(({ done }) => done));
}

type Round<Item> = {
  readonly underWay: Map<
    string,
    { readonly host: string; readonly account: string; readonly done: Promise<void> }
  >;
  /** Items whose visit threw, and until when each rests. */
  readonly resting: Map<string, number>;
  /** Due when it was last read, and not begun since. */
  backlog: readonly Item[];
  readAt: number;
};

/** Items to begin now: of the backlog, which is read anew once it is used up, or waits for hosts and accounts alone. */
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

/** Takes out of the backlog what may begin: as many as there is room for, in all, at each host and for each account. */
function take<Item>({ hostOf, accountOf, limits }: Visits<Item>, round: Round<Item>): readonly Item[] {
  const hosts = countOf([...round.underWay.values()].map(({ host }) => host));
  const accounts = countOf([...round.underWay.values()].map(({ account }) => account));
  const taken: Item[] = [];
  const left: Item[] = [];
  for (const item of round.backlog) {
    const [host, account] = [hostOf(item), accountOf(item)];
    const hasRoom =
      round.underWay.size + taken.length < limits.atOnce &&
      hosts.of(host) < limits.atOncePerHost &&
      accounts.of(account) < limits.atOncePerAccount;
    if (hasRoom) {
      hosts.add(host);
      accounts.add(account);
    }
    (hasRoom ? taken : left).push(item);
  }
  round.backlog = left;
  return taken;
}

function countOf(names: readonly string[]) {
  const counts = new Map<string, number>();
  const of = (name: string) => counts.get(name) ?? 0;
  const add = (name: string) => counts.set(name, of(name) + 1);
  for (const name of names) add(name);
  return { of, add };
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
  round.underWay.set(key, { host: visits.hostOf(item), account: visits.accountOf(item), done });
}

/** One of a few accounts that share places, always the same for one name. */
export function sharedAccount(kind: string, name: string, accounts: number): string {
  return `${kind} ${Number.parseInt(hash("sha256", name, "hex").slice(0, 8), 16) % accounts}`;
}
