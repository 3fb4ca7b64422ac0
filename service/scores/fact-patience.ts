/**
 * Told which wallets wait for facts of their counterparties, and how many accounts have facts by now, in every round of
 * scoring: answers those that have waited long enough.
 */
export type FactPatience = (waiting: readonly string[], factsKnown: number) => readonly string[];

/** A wallet waits while facts keep coming, whoever they are of: what is read next is in no order. */
const QUIET_MS = 180_000;
/** Nor longer than this: of some accounts no node tells anything. */
const LONGEST_MS = 3_600_000;

/** Patience by a clock that never goes back, in milliseconds: by wall clock, for the chain's may run through years in a minute. */
export function createFactPatience(monotonicMs: () => number): FactPatience {
  const since = new Map<string, number>();
  let latest: { readonly facts: number; readonly at: number } | null = null;
  return (waiting, factsKnown) => {
    const now = monotonicMs();
    const still = new Set(waiting);
    for (const wallet of since.keys()) if (!still.has(wallet)) since.delete(wallet);
    if (latest === null || latest.facts !== factsKnown) latest = { facts: factsKnown, at: now };
    const { at } = latest;
    return waiting.filter((wallet) => {
      const start = since.get(wallet) ?? now;
      since.set(wallet, start);
      return now - Math.max(start, at) >= QUIET_MS || now - start >= LONGEST_MS;
    });
  };
}
