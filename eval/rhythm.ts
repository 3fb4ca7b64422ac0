import type { Random } from "../devnet/population/random.ts";
import { logBetween } from "./draw.ts";

const HOUR = 3_600;
const DAY = 86_400;

/** A stretch of time in Unix seconds. */
export type Span = { readonly from: number; readonly until: number };

/** Times of a machine that acts every so many seconds, give or take a share of them. */
export function steadyTimes(
  random: Random,
  { from, until, interval, jitter }: Span & { readonly interval: number; readonly jitter: number },
): number[] {
  const times: number[] = [];
  let due = from + random.next() * interval;
  while (due < until) {
    const time = due + interval * jitter * (random.next() - 0.5);
    if (time >= from && time < until) times.push(time);
    due += interval;
  }
  return times;
}

/**
 * Times of acts that come as they are asked for: so many a day on average, by an owner's hours and week of its own, from
 * none at night to the same around the clock.
 */
export function demandTimes(
  random: Random,
  { from, until, perDay }: Span & { readonly perDay: number },
): number[] {
  const swing = random.between(0, 0.9);
  const peak = random.between(0, 24);
  const weekend = random.chance(0.5) ? 1 : random.between(0.1, 1.5);
  const most = (perDay * (1 + swing) * Math.max(1, weekend)) / DAY;
  const times: number[] = [];
  for (let time = from + random.exponential(1 / most); time < until; time += random.exponential(1 / most)) {
    const hour = (time % DAY) / HOUR;
    const daily = 1 + swing * Math.cos(((hour - peak) / 24) * 2 * Math.PI);
    // 1970-01-01 was a Thursday.
    const weekday = (Math.floor(time / DAY) + 3) % 7;
    const rate = ((perDay / DAY) * daily * (weekday >= 5 ? weekend : 1)) / most;
    if (random.chance(rate)) times.push(time);
  }
  return times;
}

/** Leaves out what falls into the outages that a machine has now and then, of hours up to a day and a half. */
export function withOutages(random: Random, times: readonly number[], span: Span): number[] {
  const outages = Array.from({ length: random.int(0, 3) }, () => {
    const from = random.between(span.from, span.until);
    return { from, until: from + logBetween(random, 3, 36) * HOUR };
  });
  return times.filter((time) => !outages.some(({ from, until }) => time >= from && time < until));
}
