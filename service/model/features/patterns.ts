import { rampOf } from "../score/curve.ts";
import { NANO } from "../score/fixed-point.ts";
import type { Policy, Ramp } from "../score/policy-shape.ts";
import type { Pattern } from "../score/record.ts";
import { burntWords, hasFallen, shareWords, succeededWords, successWords, tallyCalls } from "./call-tally.ts";
import type { Facts, FailedCall } from "./facts.ts";
import { SECONDS_PER_DAY } from "./time.ts";
import type { WeighedHistory } from "./weigh-calls.ts";

/** Every pattern that the calls of a wallet show, in a fixed order: what costs points, then the labels, which do not. */
export function findPatterns(facts: Facts): readonly Pattern[] {
  const trouble = [retryStorm(facts), staleStrategy(facts), lowSuccess(facts), gasWarCasualty(facts)].filter(
    (found) => found !== null,
  );
  const ring = selfDealingRing(facts);
  const labels = findLabels(facts, trouble.length === 0 && ring === null);
  return [...trouble, ...(ring === null ? [] : [ring]), ...labels];
}

/** Many failures of one (contract, method) within an hour, several times over. */
function retryStorm({ failures, policy }: Facts): Pattern | null {
  const { retryStorm: rule } = policy.patterns;
  const storms = countStorms(failures, rule);
  if (storms === 0) return null;
  return {
    name: "retry_storm",
    severity: "warning",
    effect: Math.max(rule.floor, storms * rule.effect),
    evidence: `${storms} times ${rule.failures} failures of one call within ${rule.withinSeconds / 60} minutes`,
  };
}

/**
 * Disjoint groups of so many failures of one method within the time. Closing each group at its earliest end finds the
 * most groups that there are, so one failure more never finds fewer.
 */
function countStorms(
  failures: readonly FailedCall[],
  rule: { readonly failures: number; readonly withinSeconds: number },
): number {
  const open = new Map<number, number[]>();
  let storms = 0;
  for (const { call, method } of failures) {
    const recent = (open.get(method) ?? []).filter((time) => time > call.timestamp - rule.withinSeconds);
    recent.push(call.timestamp);
    const complete = recent.length >= rule.failures;
    if (complete) storms += 1;
    open.set(method, complete ? [] : recent);
  }
  return storms;
}

/** Part of an effect that a measure between where the effect begins and where it is whole brings; 0 or less, to a hundredth. */
function partOf(effect: number, measure: number, ramp: Ramp): number {
  return Math.round(100 * effect * rampOf(measure, ramp)) / 100;
}

/** A wallet that goes on with a call after it failed several times in a row. */
function staleStrategy({ blind, policy }: Facts): Pattern | null {
  const { staleStrategy: rule } = policy.patterns;
  const effect = partOf(rule.effect, blind.share, rule.share);
  if (effect === 0) return null;
  return {
    name: "stale_strategy",
    severity: "warning",
    effect,
    evidence: `${blind.calls} failures after ${policy.adaptation.afterFailures} in a row of the same call`,
  };
}

/**
 * Success of late is below the bound. Whether it fell there changes the name alone: with another effect, a failure long ago could raise
 * the score.
 */
function lowSuccess(facts: Facts): Pattern | null {
  const { cascadingFailure: rule } = facts.policy.patterns;
  const effect = partOf(rule.effect, facts.success.recent, rule.recent);
  if (effect === 0) return null;
  const name = hasFallen(facts) ? "cascading_failure" : "low_success";
  return { name, severity: "critical", effect, evidence: successWords(facts) };
}

/** Much of its fees burnt, and dearly. */
function gasWarCasualty({ gas, history, policy }: Facts): Pattern | null {
  const { gasWarCasualty: rule } = policy.patterns;
  if (gas.pricePoints === null) return null;
  const priced = rule.effect * gas.pricedShare;
  const effect = partOf(partOf(priced, gas.burnt, rule.burnt), gas.pricePoints, rule.pricePoints);
  if (effect === 0) return null;
  return {
    name: "gas_war_casualty",
    severity: "warning",
    effect,
    evidence: `${burntWords(history, gas.burnt)}; prices paid are worth ${Math.round(gas.pricePoints)} of 100 points`,
  };
}

/** Much of what it does goes round among accounts of its own owner: that proves nothing, which lowers confidence and costs no points. */
function selfDealingRing({ history, policy }: Facts): Pattern | null {
  if (!isSelfDealing(history, policy)) return null;
  const own = history.calls.length - history.outside.length;
  return {
    name: "self_dealing_ring",
    severity: "critical",
    effect: 0,
    evidence: `${own} calls, ${shareWords(ownShare(history))} of the weight, within its owner's accounts`,
  };
}

/** Whether much of what a wallet does goes round within its owner's accounts. */
export function isSelfDealing(history: WeighedHistory, { patterns }: Policy): boolean {
  const { share, calls } = patterns.selfDealingRing;
  return history.ringCalls >= calls && ringShare(history) > share.begins;
}

/**
 * Share of the weight of all own calls that goes round within the owner cluster, 0 to 1. Payments to one own account, a
 * treasury, are left out of both, unless that account funds the wallet as well: they neither make a ring nor hide one.
 */
export function ringShare(history: WeighedHistory): number {
  const dealt = dealtWeight(history);
  return dealt === 0 ? 0 : (history.ownWeight - history.sweptWeight) / dealt;
}

/** Σ w of all own calls but those that sweep income to a treasury, in billionths. */
export function dealtWeight({ totalWeight, sweptWeight }: WeighedHistory): number {
  return totalWeight - sweptWeight;
}

/** Share of the weight of all own calls that stays within the owner cluster, 0 to 1; 0 without calls. */
export function ownShare({ ownWeight, totalWeight }: WeighedHistory): number {
  return totalWeight === 0 ? 0 : ownWeight / totalWeight;
}

/** Finds the patterns of a wallet that cost no points; `untroubled` if no pattern that costs points was found. */
function findLabels(facts: Facts, untroubled: boolean): readonly Pattern[] {
  const silent = zombie(facts);
  if (silent !== null) return [silent];
  return [recoveryInProgress(facts), untroubled ? healthyOperator(facts) : null].filter(
    (found) => found !== null,
  );
}

/** Its services answer, but the wallet has been silent; by the last answer seen, so that waiting alone changes nothing. */
function zombie({ rows, history, policy }: Facts): Pattern | null {
  const last = history.calls.at(-1);
  if (rows.servicesUpAt === null || last === undefined) return null;
  const days = Math.floor((rows.servicesUpAt - last.timestamp) / SECONDS_PER_DAY);
  if (days < policy.patterns.zombie.silentDays) return null;
  return label("zombie", `its services answered ${days} days after its last call`);
}

/** Worse over the window than of late. */
function recoveryInProgress(facts: Facts): Pattern | null {
  const { success, policy } = facts;
  const { wholeBelow, recentFrom } = policy.patterns.recoveryInProgress;
  if (success.whole >= wholeBelow || success.recent < recentFrom) return null;
  return label("recovery_in_progress", successWords(facts));
}

/** On no list, with enough evidence of dealing with independent parties and no listed ones, and nearly all of it good. */
function healthyOperator({ rows, history, success, exposedShare, policy }: Facts): Pattern | null {
  if (rows.sanctions.length > 0) return null;
  const { steadyFrom, minWeight, maxExposedShare } = policy.patterns.healthyOperator;
  if (success.steady < steadyFrom || history.evidence < minWeight * NANO) return null;
  if (history.credited < policy.confidence.provenShare * dealtWeight(history)) return null;
  if (exposedShare >= maxExposedShare) return null;
  return label(
    "healthy_operator",
    `${succeededWords(tallyCalls(history.outside))} succeeded; estimated success ${shareWords(success.steady)}`,
  );
}

function label(name: string, evidence: string): Pattern {
  return { name, severity: "info", effect: 0, evidence };
}
