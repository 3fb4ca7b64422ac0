import { NANO } from "../score/fixed-point.ts";
import type { Policy } from "../score/policy-shape.ts";
import type { WeighedCall, WeighedHistory } from "./weigh-calls.ts";

/** A failed outside call and its place among the calls of its (contract, method). */
export type FailedCall = WeighedCall & {
  /** Failures directly before it, with no success between. */
  readonly failuresBefore: number;
  /** Seconds to the next success; null when none followed. */
  readonly recoveredAfter: number | null;
};

/** Failures after several in a row of the same call. */
export type BlindFailures = {
  readonly calls: number;
  /** Their weight over the credited weight of all attempts with a prior, 0 or more. */
  readonly share: number;
};

/** Every failed outside call of the window, sorted, with the run it stands in. */
export function findFailures({ outside }: WeighedHistory): readonly FailedCall[] {
  if (outside.every(({ call }) => call.ok)) return [];
  const nextSuccess = new Map<number, number>();
  const recovered: (number | null)[] = [];
  for (let position = outside.length - 1; position >= 0; position--) {
    const weighed = outside[position];
    if (weighed === undefined) continue;
    const { call, method } = weighed;
    if (call.ok) nextSuccess.set(method, call.timestamp);
    else {
      const next = nextSuccess.get(method);
      recovered.push(next === undefined ? null : next - call.timestamp);
    }
  }
  const runs = new Map<number, number>();
  const failures: FailedCall[] = [];
  for (const weighed of outside) {
    if (weighed.call.ok) {
      runs.delete(weighed.method);
      continue;
    }
    const failuresBefore = runs.get(weighed.method) ?? 0;
    runs.set(weighed.method, failuresBefore + 1);
    failures.push({ ...weighed, failuresBefore, recoveredAfter: recovered.pop() ?? null });
  }
  return failures;
}

/**
 * The blind ones among the failures. Their weight is compared with what all attempts are credited, not with n: n grows when
 * a call fails, and with it one failure more could look like less blindness.
 */
export function findBlindFailures(
  failures: readonly FailedCall[],
  history: WeighedHistory,
  { adaptation }: Policy,
): BlindFailures {
  let calls = 0;
  let weight = 0;
  for (const failure of failures) {
    if (failure.failuresBefore < adaptation.afterFailures) continue;
    calls += 1;
    weight += failure.weight;
  }
  return { calls, share: weight / (history.credited + adaptation.priorCalls * NANO) };
}
