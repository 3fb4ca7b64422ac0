import { type Facts, recentStart } from "./facts.ts";
import type { OwnCall } from "./types.ts";
import type { WeighedCall, WeighedHistory } from "./weigh-calls.ts";

/**
 * Returns the fee that each of these calls paid, in wei. Executions in one transaction that carry the same fee share it: it is
 * counted with the first of them, and the others paid 0.
 */
export function countedFees(calls: readonly OwnCall[]): readonly bigint[] {
  const shared = new Set<string>();
  return calls.map(({ hash, fee, position }) => {
    if (position === 0) return fee;
    const key = `${hash} ${fee}`;
    if (shared.has(key)) return 0n;
    shared.add(key);
    return fee;
  });
}

/** Calls to others as they happened: counted and summed, neither weighed nor drawn towards any prior. */
export type CallTally = {
  readonly calls: number;
  readonly succeeded: number;
  /** Share of their fees that failures paid, 0 to 1; null where no fee was paid. */
  readonly burnt: number | null;
};

/** Counts calls to others. */
export function tallyCalls(outside: readonly WeighedCall[]): CallTally {
  const fees = countedFees(outside.map(({ call }) => call));
  let paid = 0n;
  let burnt = 0n;
  let succeeded = 0;
  for (const [position, { call }] of outside.entries()) {
    const fee = fees[position];
    if (fee === undefined) throw new RangeError(`${fees.length} fees, none at ${position}`);
    paid += fee;
    if (call.ok) succeeded += 1;
    else burnt += fee;
  }
  return { calls: outside.length, succeeded, burnt: paid === 0n ? null : Number(burnt) / Number(paid) };
}

/** "3 of 4 calls to others". */
export function succeededWords({ calls, succeeded }: CallTally): string {
  return `${succeeded} of ${calls} call${calls === 1 ? "" : "s"} to others`;
}

type Success = Pick<Facts, "history" | "success" | "policy">;

/** How the success of the last days compares with that of the window: what happened, and what the model takes it for. */
export function successWords(facts: Success): string {
  const { success, policy } = facts;
  const { recent, whole } = talliesOf(facts);
  const ofRecent = `${succeededWords(recent)} succeeded in the last ${policy.success.recentHalfLifeDays} days`;
  const ofAll = `${whole.succeeded} of ${whole.calls} in the whole window`;
  return `${ofRecent}, ${ofAll}; estimated success ${shareWords(success.recent)} of late and ${shareWords(success.whole)} in the window`;
}

/** Whether success of the last days is below that of the window, both as it happened and as the model takes it. */
export function hasFallen(facts: Success): boolean {
  const { recent, whole } = talliesOf(facts);
  const fellInCounts = recent.succeeded * whole.calls < whole.succeeded * recent.calls;
  return fellInCounts && facts.success.recent < facts.success.whole;
}

function talliesOf({ history, policy }: Success) {
  const { outside } = history;
  const from = recentStart(history, policy);
  return {
    recent: tallyCalls(outside.filter(({ call }) => call.timestamp >= from)),
    whole: tallyCalls(outside),
  };
}

/** Words for the share of fees that failures burnt, and for the model's estimate of it. */
export function burntWords({ outside }: WeighedHistory, estimated: number): string {
  const { burnt } = tallyCalls(outside);
  const paid = burnt === null ? "no fees paid" : `${shareWords(burnt)} of its fees burnt by failures`;
  return `${paid}, an estimated ${shareWords(estimated)} once weighed`;
}

/**
 * A share for people, to a tenth of a percent. Small shares above 0 are never shown as 0 %, shares below 1 never as 100
 * %.
 */
export function shareWords(share: number): string {
  const tenths = Math.round(1_000 * share);
  if (share > 0 && tenths === 0) return "under 0.1%";
  if (share < 1 && tenths === 1_000) return "over 99.9%";
  return `${tenths / 10}%`;
}
