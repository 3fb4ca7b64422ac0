const SECONDS_PER_HOUR = 3_600;
export const SECONDS_PER_DAY = 86_400;

/** Number of the UTC hour that holds a time in Unix seconds. */
export function hourOf(timestamp: number): number {
  return Math.floor(timestamp / SECONDS_PER_HOUR);
}

/** Number of the UTC day that holds a time in Unix seconds. */
export function dayOf(timestamp: number): number {
  return Math.floor(timestamp / SECONDS_PER_DAY);
}

/** Number of the UTC week, Monday to Sunday, that holds a time in Unix seconds. */
export function weekOf(timestamp: number): number {
  // 1970-01-01 was a Thursday.
  return Math.floor((dayOf(timestamp) + 3) / 7);
}
