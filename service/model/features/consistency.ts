import { readCurve } from "../score/curve.ts";
import { MICRO, NANO, toMicros } from "../score/fixed-point.ts";
import type { Feature } from "../score/measured-wallet.ts";
import { type Facts, gate, measured, shown } from "./facts.ts";
import { SECONDS_PER_DAY, weekOf } from "./time.ts";

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
