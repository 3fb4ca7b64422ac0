import { readCurve } from "../score/curve.ts";
import { divideRound, logTwo, MICRO, NANO, powerOfTwo } from "../score/fixed-point.ts";
import type { Policy } from "../score/policy-shape.ts";
import type { Feature, FeatureInputs } from "../score/record.ts";
import {
  type Facts,
  type FailedCall,
  gate,
  measured,
  notApplicable,
  recentWeights,
  shareOf,
  shrink,
} from "./facts.ts";
import { pricedShare, weightedPoints } from "./hygiene.ts";
import { dayOf, hourOf, SECONDS_PER_DAY, weekOf } from "./time.ts";
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
    inputs: {
      active_hours: hours.length,
      burstiness: burst,
      longest_pause_ratio: silence,
      ...gateInputs(points, facts),
    },
    share: shareOf(hours.length - timing.minActiveHours + 1, timing.minActiveHours),
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
 * D2 counterparty diversity: effective number of outside counterparties, 2 to the entropy of their credited attempts; those of
 * one owner are one. It is 0 where none has any credit, which scores as one does.
 */
export function counterpartyDiversity(facts: Facts): Feature {
  const entropy = entropyBits(facts);
  const points = readCurve(facts.policy.diversity.curve, entropy === null ? 0 : entropy);
  return measured("counterparty_diversity", {
    value: entropy === null ? 0 : powerOfTwo(entropy),
    score: gate(facts) * shrink(points, facts),
    samples: facts.history.outside.length,
    inputs: {
      counterparties: countCounterparties(facts),
      effective_counterparties: entropy === null ? 0 : powerOfTwo(entropy),
      ...gateInputs(points, facts),
    },
  });
}

/** Distinct outside counterparties, those of one owner as one. */
function countCounterparties({ history }: Facts): number {
  return new Set(history.outside.map(({ counterparty }) => counterparty)).size;
}

/** Points of a feature before they are drawn towards the middle, and the share of them that the success rate lets count. */
function gateInputs(points: number, facts: Facts): FeatureInputs {
  return { points, counted_share: gate(facts) };
}

/** log2 W − Σ x·log2 x / W over the credited attempts x of the counterparties, W their sum in millionths of a call; null where W is 0. */
function entropyBits({ history }: Facts): number | null {
  const weights = new Array<number>(history.counterparties).fill(0);
  for (const { counterparty, attempted } of history.outside) {
    weights[counterparty] = (weights[counterparty] ?? 0) + attempted;
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

/**
 * D2 adaptation: whether it stops calls that fail, sets gas limits that suffice, follows the market's price, and works under
 * present conditions. Its value is the mean of these.
 */
export function adaptation(facts: Facts): Feature {
  const { history, blind, policy } = facts;
  const { adaptation: rule } = policy;
  const starved = outOfGas(facts);
  const stops = readCurve(rule.blindCurve, blind.share);
  const estimates = readCurve(rule.outOfGasCurve, starved.share);
  const prices = pricesPaid(facts);
  const works = recentPoints(facts);
  const acts = rule.blindShare * stops + rule.gasLimitShare * estimates + rule.recentShare * works;
  const unpriced = acts / (1 - rule.overpayShare);
  const mean =
    prices === null
      ? unpriced
      : (1 - prices.share) * unpriced + prices.share * (acts + rule.overpayShare * prices.points);
  return measured("adaptation", {
    value: mean,
    score: gate(facts) * shrink(mean, facts),
    samples: history.outside.length,
    inputs: {
      repeated_failures: blind.calls,
      out_of_gas_failures: starved.calls,
      repeated_failures_points: stops,
      out_of_gas_points: estimates,
      recent_success_points: works,
      ...(prices === null ? {} : { gas_price_points: prices.points }),
      ...gateInputs(mean, facts),
    },
  });
}

/** Points of s_r. */
function recentPoints({ success, policy }: Facts): number {
  return readCurve(policy.success.recentCurve, success.recent);
}

/**
 * Points of the prices paid against the market's, of late: drawn towards those of the window, so that no lone call decides. Null
 * if no block has a market price; `share` is how much of their weight counts.
 */
function pricesPaid({ history, policy }: Facts): { readonly points: number; readonly share: number } | null {
  const { overpayCurve, halfLifeDays, priorCalls } = policy.adaptation;
  const pointsOf = ({ overpay }: WeighedCall) => (overpay === null ? null : readCurve(overpayCurve, overpay));
  const whole = weightedPoints(history.outside, pointsOf);
  if (whole === null) return null;
  const late = weightedPoints(history.outside, pointsOf, recentWeights(history, halfLifeDays));
  const share = pricedShare(whole, policy);
  if (late === null) return { points: whole.points, share };
  const points = (late.calls * late.points + priorCalls * whole.points) / (late.calls + priorCalls);
  return { points, share };
}

/** Failures that their gas limit stopped: their number, and their weight over the credited attempts. */
function outOfGas({ history, failures, policy }: Facts) {
  const { priorCalls } = policy.adaptation;
  const stopped = failures.filter(({ call }) => ranOutOfGas(call, policy));
  const weight = stopped.reduce((sum, { counted }) => sum + counted, 0);
  return { calls: stopped.length, share: weight / (history.attempted + priorCalls * NANO) };
}

/** Whether a failed call used up its gas limit, or nearly so; one that gave up all its gas on purpose looks the same. */
export function ranOutOfGas(
  { gasUsed, gasLimit }: Pick<OwnCall, "gasUsed" | "gasLimit">,
  { adaptation: rule }: Policy,
): boolean {
  return Number(gasUsed) >= rule.outOfGasShare * Number(gasLimit);
}

/**
 * D2 failure recovery: how long the worst failures of the window lasted. Each counts by the time to the next success of its
 * (contract, method) and by the failures before it; of those of one (contract, method) and UTC day the worst one counts, and
 * of all days so many. The value is their sum in calls. It measures how failures end, where the success rate measures how many
 * there are; one failure more never makes it smaller.
 */
export function failureRecovery({ history, failures, policy }: Facts): Feature {
  const { recovery } = policy;
  const worst = new Map<string, number>();
  const recentOf = recentWeights(history, recovery.halfLifeDays);
  const last = history.calls.at(-1)?.timestamp ?? 0;
  for (const failure of failures) {
    const key = `${failure.method} ${dayOf(failure.call.timestamp)}`;
    const weight = divideRound(recentOf(failure.call) * failure.credit, MICRO);
    const burden = Math.round(weight * burdenOf(failure, last, policy));
    worst.set(key, Math.max(worst.get(key) ?? 0, burden));
  }
  const heaviest = [...worst.values()].toSorted((a, b) => b - a).slice(0, recovery.worst);
  const burden = heaviest.reduce((sum, one) => sum + one, 0) / NANO;
  return measured("failure_recovery", {
    value: burden,
    score: readCurve(recovery.curve, burden),
    samples: failures.length,
    inputs: {
      calls: history.outside.length,
      failed: failures.length,
      recovered: failures.filter(({ recoveredAfter }) => recoveredAfter !== null).length,
      burden,
    },
  });
}

/**
 * b of one failure, a share of 1, by how long it lasted and how many came before it; one that no success followed lasts to the last
 * own call, so that a wallet loses it step by step.
 */
function burdenOf(failure: FailedCall, last: number, { recovery }: Policy): number {
  const lasted = failure.recoveredAfter ?? last - failure.call.timestamp;
  const floor = recovery.floor + recovery.floorPerEarlierFailure * failure.failuresBefore;
  return Math.min(1, Math.max(readCurve(recovery.delayCurve, lasted), floor));
}

/** D2 consistency: how many weeks are active, how long the record is, and whether it works to its end. */
export function consistency(facts: Facts): Feature {
  const { consistency: rule } = facts.policy;
  const effective = effectiveWeeks(facts);
  const tenure = 100 * Math.min(1, effective / rule.fullTenureWeeks);
  const active = activity(facts, effective);
  const works = recentPoints(facts);
  const points = rule.activityShare * active + rule.tenureShare * tenure + rule.recentShare * works;
  return measured("consistency", {
    value: effective,
    score: points,
    samples: facts.history.outside.length,
    inputs: {
      active_weeks: attemptsByWeek(facts).size,
      effective_weeks: effective,
      activity_points: active,
      tenure_points: tenure,
      recent_success_points: works,
    },
  });
}

/**
 * Effective number of active weeks: 2 to the entropy of the square roots of the weeks' credited attempts. One busy day does
 * not make up for idle weeks, and no outcome changes it; 0 without credited attempts.
 */
export function effectiveWeeks({ history }: Pick<Facts, "history">): number {
  const roots = [...attemptsByWeek({ history }).values()]
    .map((attempted) => Math.round(Math.sqrt(attempted)))
    .filter((root) => root > 0);
  const total = roots.reduce((sum, root) => sum + root, 0);
  if (total === 0) return 0;
  const surprise = roots.reduce((sum, root) => sum + Math.round(MICRO * root * logTwo(root)), 0) / MICRO;
  return powerOfTwo(Math.max(0, logTwo(total) - surprise / total));
}

/** Credited attempts by UTC week. */
function attemptsByWeek({ history }: Pick<Facts, "history">): ReadonlyMap<number, number> {
  const weeks = new Map<number, number>();
  for (const { call, attempted } of history.outside) {
    const number = weekOf(call.timestamp);
    weeks.set(number, (weeks.get(number) ?? 0) + attempted);
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
