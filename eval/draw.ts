import type { Random } from "../devnet/population/random.ts";

/** A number between low and high whose logarithm is uniform: as likely between 1 and 10 as between 10 and 100. */
export function logBetween(random: Random, low: number, high: number): number {
  return low * (high / low) ** random.next();
}

/** A standard normal number, by Box and Muller's transform. */
export function gaussian(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

/** How many events of a steady stream with this mean occur; the normal approximation from 50 on. */
export function poisson(random: Random, mean: number): number {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * gaussian(random)));
  const limit = Math.exp(-mean);
  let events = 0;
  for (let product = random.next(); product > limit; product *= random.next()) events += 1;
  return events;
}

/** Picks by Zipf's law: the k-th of the values is 1/k as likely as the first; throws on an empty list. */
export function zipfPicker<T>(values: readonly T[]): (random: Random) => T {
  let total = 0;
  const sums = values.map((_, position) => {
    total += 1 / (position + 1);
    return total;
  });
  return (random) => {
    const target = random.next() * total;
    let low = 0;
    let high = sums.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? Number.POSITIVE_INFINITY) < target) low = middle + 1;
      else high = middle;
    }
    const value = values[low];
    if (value === undefined) throw new Error("nothing to pick from an empty list");
    return value;
  };
}

/** The logistic function: a share of 1 for any number. */
export function logistic(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** Log odds of a share, which is kept a thousandth away from 0 and 1. */
export function logit(share: number): number {
  const bounded = Math.min(0.999, Math.max(0.001, share));
  return Math.log(bounded / (1 - bounded));
}
