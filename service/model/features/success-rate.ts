import { readCurve } from "../score/curve.ts";
import { NANO } from "../score/fixed-point.ts";
import type { Feature } from "../score/measured-wallet.ts";
import { type Facts, measured, shown } from "./facts.ts";

/** D1 success rate: S on its curve. */
export function successRate({ history, success, policy }: Facts): Feature {
  return measured("success_rate", {
    value: success.steady,
    score: readCurve(policy.success.curve, success.steady),
    samples: history.outside.length,
    reason: `s ${shown(success.whole)} by n ${shown(history.evidence / NANO)}, s${policy.success.recentDays} ${shown(success.recent)}`,
  });
}
