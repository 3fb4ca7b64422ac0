import { readCurve } from "../score/curve.ts";
import { logTwo } from "../score/fixed-point.ts";
import type { Feature } from "../score/measured-wallet.ts";
import { type Facts, gate, gatedWords, measured, notApplicable, shown, shrink } from "./facts.ts";
import { hourOf } from "./time.ts";

const HOURS_PER_DAY = 24;
const DAYS_PER_WEEK = 7;
const HOURS_PER_WEEK = 168;
/** Parts of an operational hour: a window's squared gaps stay exact integers. */
const PARTS = 10_000;

/** D2 timing regularity: how even the gaps between active hours are, once the wallet's own clock is allowed for. */
export function timingRegularity(facts: Facts): Feature {
  const { timing } = facts.policy;
  const hours = activeHours(facts);
  if (hours.length < timing.minActiveHours) {
    return notApplicable(
      "timing_regularity",
      hours.length,
      `${hours.length} active hours; a rhythm needs ${timing.minActiveHours}`,
    );
  }
  const { relativeSpread, meanGap, longestGap } = describeGaps(hours, timing.clockPriorShare);
  const burst = burstiness(relativeSpread, hours.length);
  const silence = longestGap / (meanGap * (logTwo(hours.length) * Math.LN2 + 1));
  const points =
    timing.burstShare * readCurve(timing.burstCurve, burst) +
    timing.silenceShare * readCurve(timing.silenceCurve, silence);
  return measured("timing_regularity", {
    value: burst,
    score: gate(facts) * shrink(points, facts),
    samples: hours.length,
    reason: `longest silence ${shown(silence)}; ${gatedWords(points, facts)}`,
  });
}

function activeHours({ history }: Facts): readonly number[] {
  return [...new Set(history.outside.map(({ call }) => hourOf(call.timestamp)))];
}

/** Finite-size burstiness of Kim & Jo 2016 for m events whose gaps have sd/mean r. */
function burstiness(r: number, m: number): number {
  const low = Math.sqrt(m - 1);
  const high = Math.sqrt(m + 1);
  return (high * r - low) / ((high - 2) * r + low);
}

/** Gaps between consecutive active hours in operational time: mean and longest in parts, and sd over mean. */
function describeGaps(hours: readonly number[], clockPriorShare: number) {
  const elapsed = operationalClock(hours, clockPriorShare);
  let sum = 0;
  let squares = 0;
  let longestGap = 0;
  let before: number | undefined;
  for (const hour of hours) {
    const now = elapsed(hour);
    if (before !== undefined) {
      const gap = now - before;
      sum += gap;
      squares += gap * gap;
      longestGap = Math.max(longestGap, gap);
    }
    before = now;
  }
  const gaps = hours.length - 1;
  // The variance as a difference of integers, so that no order of summation shows.
  const spread = BigInt(gaps) * BigInt(squares) - BigInt(sum) * BigInt(sum);
  return { relativeSpread: Math.sqrt(Number(spread)) / sum, meanGap: sum / gaps, longestGap };
}

/**
 * Operational time in parts up to the end of an hour: an hour weighs a·b, where a tells how usual its hour of day is
 * for this wallet and b how usual its weekday. Both average 1.
 */
function operationalClock(hours: readonly number[], clockPriorShare: number): (hour: number) => number {
  const byHour = usualness(hours, HOURS_PER_DAY, (hour) => hour % HOURS_PER_DAY, clockPriorShare);
  const byDay = usualness(
    hours,
    DAYS_PER_WEEK,
    (hour) => Math.floor(hour / HOURS_PER_DAY) % DAYS_PER_WEEK,
    clockPriorShare,
  );
  const sums: number[] = [];
  let week = 0;
  for (const b of byDay) {
    for (const a of byHour) {
      week += Math.round(a * b * PARTS);
      sums.push(week);
    }
  }
  return (hour) => {
    const inWeek = sums[hour % HOURS_PER_WEEK];
    if (inWeek === undefined) throw new RangeError(`hour ${hour} is not a whole number above zero`);
    return Math.floor(hour / HOURS_PER_WEEK) * week + inWeek;
  };
}

function usualness(
  hours: readonly number[],
  slots: number,
  slotOf: (hour: number) => number,
  priorShare: number,
): readonly number[] {
  const counts = new Array<number>(slots).fill(0);
  for (const hour of hours) counts[slotOf(hour)] = (counts[slotOf(hour)] ?? 0) + 1;
  const mean = hours.length / slots;
  return counts.map((count) => (count + mean * priorShare) / (mean * (1 + priorShare)));
}
