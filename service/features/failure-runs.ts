import type { WeighedCall, WeighedHistory } from "./weigh-calls.ts";

/** A failed outside call and its place among the calls of its (contract, method). */
export type FailedCall = WeighedCall & {
  /** Failures directly before it, with no success between. */
  readonly failuresBefore: number;
  /** Seconds to the next success; null when none followed. */
  readonly recoveredAfter: number | null;
};

/** Every failed outside call of the window, sorted, with the run it stands in. */
export function findFailures(history: WeighedHistory): readonly FailedCall[] {
  const nextSuccess = new Map<number, number>();
  const recovered: (number | null)[] = [];
  for (const { call, method } of history.outside.toReversed()) {
    if (call.ok) nextSuccess.set(method, call.timestamp);
    else {
      const next = nextSuccess.get(method);
      recovered.push(next === undefined ? null : next - call.timestamp);
    }
  }
  const runs = new Map<number, number>();
  const failures: FailedCall[] = [];
  for (const weighed of history.outside) {
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
