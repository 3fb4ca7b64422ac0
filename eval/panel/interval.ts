import type { Random } from "../../devnet/population/random.ts";
import { quantile } from "../measures.ts";

/** Bounds of 95 %. */
type Interval = { readonly low: number; readonly high: number };

/** A figure with its interval; null where the cases allow none. */
export type Estimate = { readonly value: number | null; readonly interval: Interval | null };

/** A share of cases, with its Wilson interval; value and interval are null for a share of nothing. */
export type Share = Estimate & { readonly count: number; readonly of: number };

/** The normal quantile of 0.975. */
const Z = 1.959964;

const REPLICATES = 1_000;
/** Least share of replicates with a value: below it the rest would be a biased sample. */
const LEAST_WITH_VALUE = 0.95;

/** The share of rows for which `holds` is true. Wilson (1927): it stays inside 0 to 1, and is not empty at 0 or 1. */
export function shareOf<Row>(rows: readonly Row[], holds: (row: Row) => boolean): Share {
  const [count, of] = [rows.filter(holds).length, rows.length];
  if (of === 0) return { count, of, value: null, interval: null };
  const value = count / of;
  const spread = Z * Math.sqrt((value * (1 - value)) / of + Z ** 2 / (4 * of ** 2));
  const [middle, scale] = [value + Z ** 2 / (2 * of), 1 + Z ** 2 / of];
  const low = count === 0 ? 0 : (middle - spread) / scale;
  const high = count === of ? 1 : (middle + spread) / scale;
  return { count, of, value, interval: { low, high } };
}

/** A statistic of rows with the interval of its percentile bootstrap (Efron, 1979): rows are drawn again with replacement. */
export function bootstrap<Row>(
  rows: readonly Row[],
  statistic: (rows: readonly Row[]) => number | null,
  random: Random,
): Estimate {
  const value = statistic(rows);
  if (value === null || rows.length < 2) return { value, interval: null };
  const values = Array.from({ length: REPLICATES }, () => {
    const drawn = rows.map(() => random.pick(rows));
    return statistic(drawn);
  }).filter((drawn) => drawn !== null);
  const [low, high] = [quantile(values, 0.025), quantile(values, 0.975)];
  const isEnough = values.length >= LEAST_WITH_VALUE * REPLICATES;
  return { value, interval: isEnough && low !== null && high !== null ? { low, high } : null };
}
