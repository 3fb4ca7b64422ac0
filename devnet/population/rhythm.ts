import type { Random } from "./random.ts";

export const MINUTE = 60;
export const HOUR = 3_600;
export const DAY = 86_400;

export type Span = { readonly start: number; readonly end: number };

/** Times at random, so many a day on average, likelier in the hours whose weight is higher (24 weights from 0 to 1, UTC). */
export function atRandom(random: Random, span: Span, rate: { perDay: number; hours: readonly number[] }) {
  const share = rate.hours.reduce((sum, weight) => sum + weight, 0) / rate.hours.length;
  const times: number[] = [];
  let at = span.start;
  for (;;) {
    at += random.exponential((DAY * share) / rate.perDay);
    if (at >= span.end) return times;
    if (random.chance(rate.hours[hourOf(at)] ?? 1)) times.push(Math.floor(at));
  }
}

/** Times at a steady interval in seconds, each off by up to this part of it. */
export function atIntervals(random: Random, span: Span, beat: { interval: number; jitter: number }) {
  const times: number[] = [];
  const first = span.start + random.between(0, beat.interval);
  for (let due = first; due < span.end; due += beat.interval) {
    const at = Math.floor(due + random.between(-1, 1) * beat.jitter * beat.interval);
    if (at > span.start && at < span.end) times.push(at);
  }
  return times;
}

/** Once a week at this weekday (0 is Monday) and second of the day, up to so many seconds later. */
export function onceAWeek(
  random: Random,
  span: Span,
  slot: { weekday: number; second: number; late: number },
): number[] {
  const times: number[] = [];
  for (let day = Math.floor(span.start / DAY); day * DAY < span.end; day += 1) {
    // 1 January 1970 was a Thursday.
    if ((day + 3) % 7 !== slot.weekday) continue;
    const at = Math.floor(day * DAY + slot.second + random.between(0, slot.late));
    if (at > span.start && at < span.end) times.push(at);
  }
  return times;
}

/** Weights of the hours for an owner awake for `length` hours from `from` on, with a little night work. */
export function wakingHours(from: number, length: number): readonly number[] {
  return Array.from({ length: 24 }, (_, hour) => ((hour - from + 24) % 24 < length ? 1 : 0.12));
}

/** Weights for an owner that never sleeps. */
export const ALL_HOURS: readonly number[] = Array.from({ length: 24 }, () => 1);

function hourOf(at: number): number {
  return Math.floor(at / HOUR) % 24;
}
