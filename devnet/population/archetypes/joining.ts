import type { Random } from "../random.ts";
import { HOUR, type Span } from "../rhythm.ts";

/** Joins within the first day and a half of the history. */
export function joinsAtTheStart(random: Random, history: Span): number {
  const latest = Math.min(36 * HOUR, (history.end - history.start) / 20);
  return Math.floor(history.start + random.between(0.05, 1) * latest);
}
