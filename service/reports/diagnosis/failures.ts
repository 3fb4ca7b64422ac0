import { ranOutOfGas } from "../../model/features/behaviour.ts";
import type { OwnCall } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { compare, type PaidCall, sumMoney } from "./report-facts.ts";

/**
 * Cause of a failure by its receipt. out_of_gas: the gas used reached 98 % of the limit, which code that burns all its
 * gas on purpose does as well. reverted: any other. Revert reasons are not stored.
 */
export type FailureCause = "out_of_gas" | "reverted";

/**
 * Failures of one (contract, method) with the same cause. The contract is null for creations and unknown targets, the
 * selector for plain transfers.
 */
export type FailureGroup = ReturnType<typeof groupOf>;

/** The cause of a failed call; an execution without a limit of its own cannot have run into it. */
export function causeOf(call: OwnCall, policy: Policy): FailureCause {
  return call.gasLimit > 0n && ranOutOfGas(call, policy) ? "out_of_gas" : "reverted";
}

/** Failures by contract, method and cause; the dearest first, then by contract, method and cause. */
export function findFailureGroups(calls: readonly PaidCall[], policy: Policy): readonly FailureGroup[] {
  const groups = [...Map.groupBy(calls, methodKey).values()].flatMap((attempts) => {
    const failed = attempts.filter(({ call }) => !call.ok);
    const byCause = Map.groupBy(failed, ({ call }) => causeOf(call, policy));
    return [...byCause].map(([cause, failures]) => groupOf({ cause, failures, attempts }));
  });
  const keyOf = ({ contract, selector, cause }: FailureGroup) => `${contract} ${selector} ${cause}`;
  return groups.toSorted((a, b) => compare(b.wasted.wei, a.wasted.wei) || compare(keyOf(a), keyOf(b)));
}

/** The (contract, method) of a call as a map key. */
export function methodKey({ call }: PaidCall): string {
  return `${call.to} ${call.selector}`;
}

function groupOf({
  cause,
  failures,
  attempts,
}: {
  cause: FailureCause;
  failures: readonly PaidCall[];
  attempts: readonly PaidCall[];
}) {
  const first = failures[0];
  const last = failures.at(-1);
  if (first === undefined || last === undefined) throw new Error("a group of failures holds one at least");
  return {
    contract: first.call.to,
    selector: first.call.selector,
    cause,
    failures: failures.length,
    attempts: attempts.length,
    wasted: sumMoney(failures.map(({ fee }) => fee)),
    firstAt: first.call.timestamp,
    lastAt: last.call.timestamp,
    lastHash: last.call.hash,
    /** Most consecutive failures of the (contract, method), of any cause. */
    longestRun: longestRun(attempts),
    /** Whether a call of the (contract, method) succeeded after the last of these failures. */
    succeededSince: attempts.slice(attempts.indexOf(last)).some(({ call }) => call.ok),
  };
}

function longestRun(attempts: readonly PaidCall[]): number {
  let longest = 0;
  let run = 0;
  for (const { call } of attempts) {
    run = call.ok ? 0 : run + 1;
    longest = Math.max(longest, run);
  }
  return longest;
}
