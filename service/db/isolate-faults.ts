import { isOutage } from "./database-failure.ts";
import type { Fault } from "./quarantine.ts";

export type BatchWork = {
  readonly batches: readonly (readonly string[])[];
  /** Batches in progress at once. */
  readonly lanes: number;
  /** May be called again with items that it has done. */
  readonly attempt: (items: readonly string[]) => Promise<void>;
  /** Ends the work between two attempts. */
  readonly signal?: AbortSignal;
};

export type IsolatedFaults = {
  readonly done: readonly string[];
  readonly faults: readonly Fault[];
  /** Items of failed batches for which this run had no attempts left. */
  readonly untried: readonly string[];
  /** What was thrown first. */
  readonly firstError: unknown;
};

/** Failed parts of batches that are halved again in one run: eight bad items of a batch of 250 at least are found. */
const MOST_SPLITS = 64;

/**
 * Attempts every batch; one that fails is halved until the items at fault are alone, after all other batches had their attempt.
 * Throws when the signal fires, and when an attempt fails because the database is out of reach.
 */
export async function isolateFaults(work: BatchWork): Promise<IsolatedFaults> {
  const fresh = [...work.batches];
  const parts: (readonly string[])[] = [];
  const done: string[] = [];
  const faults: Fault[] = [];
  const untried: string[] = [];
  const errors: unknown[] = [];
  let splits = 0;
  let outage: { readonly error: unknown } | null = null;

  const take = () => {
    const batch = fresh.shift();
    if (batch !== undefined) return { items: batch, isPart: false };
    // The newest first: so a few attempts lead to one item, and not to many smaller batches.
    const part = parts.pop();
    return part === undefined ? null : { items: part, isPart: true };
  };
  const divide = (items: readonly string[], isPart: boolean) => {
    if (isPart) splits += 1;
    if (splits > MOST_SPLITS) {
      untried.push(...items);
      return;
    }
    const middle = Math.ceil(items.length / 2);
    parts.push(items.slice(middle), items.slice(0, middle));
  };
  const runLane = async () => {
    while (outage === null) {
      const next = take();
      if (next === null) return;
      try {
        work.signal?.throwIfAborted();
        await work.attempt(next.items);
        done.push(...next.items);
      } catch (error) {
        if (work.signal?.aborted || isOutage(error)) {
          outage = { error };
          return;
        }
        errors.push(error);
        const [first, ...others] = next.items;
        if (first !== undefined && others.length === 0) faults.push({ subject: first, error });
        else divide(next.items, next.isPart);
      }
    }
  };
  await Promise.all(Array.from({ length: work.lanes }, runLane));
  throwOutage(outage);
  return { done, faults, untried, firstError: errors[0] };
}

function throwOutage(outage: { readonly error: unknown } | null): void {
  if (outage !== null) throw outage.error;
}

/** Divides items, in their order. */
export function inBatches(items: readonly string[], size: number): (readonly string[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}
