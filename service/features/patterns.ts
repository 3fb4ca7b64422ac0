import { NANO } from "../score/fixed-point.ts";
import type { Pattern } from "../score/record.ts";
import type { Facts } from "./facts.ts";
import type { FailedCall } from "./failure-runs.ts";

/** Every pattern that the calls of a wallet show, in a fixed order. */
export function findPatterns(facts: Facts): readonly Pattern[] {
  return [retryStorm(facts), staleStrategy(facts), cascadingFailure(facts)].filter((found) => found !== null);
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

/** A wallet that goes on with a call after it failed several times in a row. */
function staleStrategy({ history, failures, policy }: Facts): Pattern | null {
  const { staleStrategy: rule } = policy.patterns;
  const blind = failures.filter(({ failuresBefore }) => failuresBefore >= rule.afterFailures);
  const weight = blind.reduce((sum, failure) => sum + failure.weight, 0);
  const share = weight / (history.evidence + rule.priorCalls * NANO);
  if (share <= rule.share) return null;
  return {
    name: "stale_strategy",
    severity: "warning",
    effect: rule.effect,
    evidence: `${blind.length} failures, ${percent(share)} of the evidence, after ${rule.afterFailures} in a row of the same call`,
  };
}

/** Success of the last days has fallen below the bound. */
function cascadingFailure({ success, policy }: Facts): Pattern | null {
  const { cascadingFailure: rule } = policy.patterns;
  if (success.recent >= rule.recentBelow) return null;
  return {
    name: "cascading_failure",
    severity: "critical",
    effect: rule.effect,
    evidence: `success of the last ${policy.success.recentDays} days ${percent(success.recent)}, of the whole window ${percent(success.whole)}`,
  };
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}
