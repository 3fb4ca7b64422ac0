import { MICRO, NANO } from "../score/fixed-point.ts";
import type { Policy } from "../score/policy-shape.ts";
import { SECONDS_PER_DAY } from "./time.ts";
import type { WeighedHistory } from "./weigh-calls.ts";

/** Success of a wallet, each a share of 1: over the window, over its last days, and the smaller mean of the two. */
export type Success = {
  /** s. */
  readonly whole: number;
  /** s14. */
  readonly recent: number;
  /** S = min(s, (s + s14) / 2). */
  readonly steady: number;
};

/** Success by section 2 of the scoring model. */
export function measureSuccess(history: WeighedHistory, policy: Policy): Success {
  const { prior, recentPriorCalls } = policy.success;
  const recentFrom = recentStart(history, policy);

  let succeeded = 0;
  let recentSucceeded = 0;
  let recentWeight = 0;
  for (const { call, credit, credited } of history.outside) {
    if (call.ok) succeeded += credited;
    if (call.timestamp < recentFrom) continue;
    if (call.ok) recentSucceeded += credit;
    recentWeight += call.ok ? credit : MICRO;
  }
  const whole = (succeeded + prior.successes * NANO) / (history.evidence + prior.calls * NANO);
  const recent =
    (recentSucceeded + recentPriorCalls * MICRO * whole) / (recentWeight + recentPriorCalls * MICRO);
  return { whole, recent, steady: Math.min(whole, (whole + recent) / 2) };
}

/** Unix seconds from which calls are recent: so many days before the last own call; 0 where there is none. */
export function recentStart({ calls }: WeighedHistory, { success }: Policy): number {
  const last = calls.at(-1);
  return last === undefined ? 0 : last.timestamp - success.recentDays * SECONDS_PER_DAY;
}
