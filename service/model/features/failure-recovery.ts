import { readCurve } from "../score/curve.ts";
import { NANO } from "../score/fixed-point.ts";
import type { Feature } from "../score/measured-wallet.ts";
import type { Policy } from "../score/policy-shape.ts";
import { type Facts, measured } from "./facts.ts";
import type { FailedCall } from "./failure-runs.ts";

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
