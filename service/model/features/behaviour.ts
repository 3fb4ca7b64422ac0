import { readCurve } from "../score/curve.ts";
import { divideRound, logTwo, MICRO, NANO, powerOfTwo, toMicros } from "../score/fixed-point.ts";
import type { Policy } from "../score/policy-shape.ts";
import type { Feature } from "../score/record.ts";
import {
  type Facts,
  type FailedCall,
  gate,
  gatedWords,
  measured,
  notApplicable,
  shown,
  shrink,
} from "./facts.ts";
import { hourOf, SECONDS_PER_DAY, weekOf } from "./time.ts";
import type { OwnCall } from "./types.ts";
import type { WeighedCall } from "./weigh-calls.ts";

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
 * Operational time in parts up to the end of an hour: an hour weighs a·b, where a measures how usual its hour of day
 * is for this wallet and b how usual its weekday. Both average 1.
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

/**
 * D2 counterparty diversity: effective number of outside counterparties, 2 to the entropy of their credited weight; those of
 * one owner are one. It is 0 where none has any credit, which scores as one does.
 */
export function counterpartyDiversity(facts: Facts): Feature {
  const entropy = entropyBits(facts);
  const points = readCurve(facts.policy.diversity.curve, entropy === null ? 0 : entropy);
  return measured("counterparty_diversity", {
    value: entropy === null ? 0 : powerOfTwo(entropy),
    score: gate(facts) * shrink(points, facts),
    samples: facts.history.outside.length,
    reason: gatedWords(points, facts),
  });
}

/** log2 W − Σ x·log2 x / W over the credited weights x of the counterparties, W their sum in millionths of a call; null where W is 0. */
function entropyBits({ history }: Facts): number | null {
  const weights = new Array<number>(history.counterparties).fill(0);
  for (const { counterparty, credited } of history.outside) {
    weights[counterparty] = (weights[counterparty] ?? 0) + credited;
  }
  let total = 0;
  let surprise = 0;
  for (const weight of weights) {
    const micros = divideRound(weight, NANO / MICRO);
    if (micros === 0) continue;
    total += micros;
    surprise += Math.round(micros * logTwo(micros));
  }
  return total === 0 ? null : Math.max(0, logTwo(total) - surprise / total);
}

/** D2 adaptation: the worst of failing blindly, running out of gas and overpaying. Its value is that worst one's points. */
export function adaptation(facts: Facts): Feature {
  const { history, blind, policy } = facts;
  const { adaptation: rule } = policy;
  const overpay = medianOverpay(history.outside);
  const starved = outOfGasShare(facts);
  const worst = Math.min(
    readCurve(rule.blindCurve, blind.share),
    readCurve(rule.outOfGasCurve, starved),
    overpay === null ? 100 : readCurve(rule.overpayCurve, overpay),
  );
  return measured("adaptation", {
    value: worst,
    score: gate(facts) * shrink(worst, facts),
    samples: history.outside.length,
    reason: `blind ${shown(blind.share)}, out of gas ${shown(starved)}, overpay ${
      overpay === null ? "unknown: no block tells what the market paid" : shown(overpay)
    }; ${gatedWords(worst, facts)}`,
  });
}

/** Weight of the failures that their gas limit stopped, over the credited weight of all attempts. */
function outOfGasShare({ history, failures, policy }: Facts): number {
  const { priorCalls } = policy.adaptation;
  let weight = 0;
  for (const { call, weight: own } of failures) {
    if (ranOutOfGas(call, policy)) weight += own;
  }
  return weight / (history.credited + priorCalls * NANO);
}

/** Whether a failed call used up its gas limit, or nearly so; one that gave up all its gas on purpose looks the same. */
export function ranOutOfGas(
  { gasUsed, gasLimit }: Pick<OwnCall, "gasUsed" | "gasLimit">,
  { adaptation: rule }: Policy,
): boolean {
  return Number(gasUsed) >= rule.outOfGasShare * Number(gasLimit);
}

/** Median by weight of the prices paid over the market's, the lower of two; null where no block has a market price. */
function medianOverpay(outside: readonly WeighedCall[]): number | null {
  const paid: { readonly overpay: number; readonly weight: number }[] = [];
  let total = 0;
  for (const { overpay, weight } of outside) {
    if (overpay === null) continue;
    paid.push({ overpay, weight });
    total += weight;
  }
  paid.sort((a, b) => a.overpay - b.overpay);
  let sum = 0;
  for (const { overpay, weight } of paid) {
    sum += weight;
    if (2 * sum >= total) return overpay;
  }
  return null;
}

/**
 * D2 failure recovery: the burden of failures, each weighed by how long it lasted and how many came before it, over the
 * credited weight of all attempts. Over n, which grows when a call fails, a failure soon repaired could lower the burden.
 */
export function failureRecovery({ history, failures, policy }: Facts): Feature {
  const { recovery } = policy;
  let sum = 0;
  for (const failure of failures) sum += Math.round(failure.weight * burdenOf(failure, policy));
  const burden = (sum + recovery.prior * NANO) / (history.credited + recovery.priorCalls * NANO);
  return measured("failure_recovery", {
    value: burden,
    score: readCurve(recovery.curve, burden),
    samples: history.outside.length,
  });
}

/** b of one failure, a share of 1; one that no success followed weighs whole. */
function burdenOf(failure: FailedCall, { recovery }: Policy): number {
  if (failure.recoveredAfter === null) return 1;
  const floor = recovery.floor + recovery.floorPerEarlierFailure * failure.failuresBefore;
  return Math.min(1, Math.max(readCurve(recovery.delayCurve, failure.recoveredAfter), floor));
}

type Week = { succeeded: number; evidence: number };

/** D2 consistency: how many weeks are active, how long the record is, and how good its worst weeks are. */
export function consistency(facts: Facts): Feature {
  const { consistency: rule } = facts.policy;
  const weeks = activeWeeks(facts);
  const tenure = 100 * Math.min(1, weeks.size / rule.fullTenureWeeks);
  const active = activity(facts, weeks.size);
  const worst = worstWeeks(facts, [...weeks.values()]);
  const rhythm = rule.activityShare * active + rule.tenureShare * tenure;
  return measured("consistency", {
    value: weeks.size,
    score: gate(facts) * rhythm + rule.worstShare * worst,
    samples: weeks.size,
    reason: `activity ${shown(active)}, tenure ${shown(tenure)}, gate ${shown(gate(facts))}; worst weeks ${shown(worst)}`,
  });
}

/** Outside calls by UTC week. */
function activeWeeks({ history }: Facts): ReadonlyMap<number, Week> {
  const weeks = new Map<number, Week>();
  for (const { call, weight, credited } of history.outside) {
    const number = weekOf(call.timestamp);
    const week = weeks.get(number) ?? { succeeded: 0, evidence: 0 };
    weeks.set(number, week);
    if (call.ok) week.succeeded += credited;
    week.evidence += call.ok ? credited : weight;
  }
  return weeks;
}

/** A: active weeks over the weeks of the span, drawn towards the prior. */
function activity({ history, policy }: Facts, active: number): number {
  const { activityCurve, activityPrior, minSpanDays } = policy.consistency;
  const first = history.outside[0]?.call.timestamp;
  const last = history.outside.at(-1)?.call.timestamp;
  if (first === undefined || last === undefined || last - first < minSpanDays * SECONDS_PER_DAY) {
    return activityPrior.points;
  }
  const points = readCurve(activityCurve, active / (weekOf(last) - weekOf(first) + 1));
  return (active * points + activityPrior.weeks * activityPrior.points) / (active + activityPrior.weeks);
}

/** X: mean success score of the worst part of the weeks, not far above the success score of the whole. */
function worstWeeks({ success, policy }: Facts, weeks: readonly Week[]): number {
  const { weekPrior, worstPart, worstLead } = policy.consistency;
  const scores = weeks
    .map(({ succeeded, evidence }) => {
      const prior = weekPrior.calls * NANO;
      const rate = (succeeded + prior * weekPrior.successRate) / (evidence + prior);
      return toMicros(readCurve(policy.success.curve, rate));
    })
    .toSorted((a, b) => a - b)
    .slice(0, Math.ceil(weeks.length / worstPart));
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length / MICRO;
  return Math.min(mean, readCurve(policy.success.curve, success.steady) + worstLead);
}
