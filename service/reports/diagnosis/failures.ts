import type { Address, Hex } from "viem";
import { ranOutOfGas } from "../../model/features/behaviour.ts";
import type { OwnCall } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { compareBigints, compareTexts } from "./compare.ts";
import { type Money, type PaidCall, sumMoney } from "./report-facts.ts";

/**
 * Cause of a failure by its receipt. out_of_gas: the gas used reached 98 % of the limit, which code that burns all its
 * gas on purpose does as well. reverted: any other. Revert reasons are not stored.
 */
export type FailureCause = "out_of_gas" | "reverted";

/** Failures of one (contract, method) with the same cause. */
export type FailureGroup = {
  /** Null for contract creations and for executions with unknown target. */
  readonly contract: Address | null;
  /** Null for plain transfers. */
  readonly selector: Hex | null;
  readonly cause: FailureCause;
  readonly failures: number;
  /** All calls of the (contract, method) in the window. */
  readonly attempts: number;
  /** Fees of the failures. */
  readonly wasted: Money;
  /** Unix seconds. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly lastHash: Hex;
  /** Most consecutive failures of the (contract, method), of any cause. */
  readonly longestRun: number;
  /** Whether a call of the (contract, method) succeeded after the last of these failures. */
  readonly succeededSince: boolean;
};

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
  return groups.toSorted(
    (a, b) => compareBigints(b.wasted.wei, a.wasted.wei) || compareTexts(groupKey(a), groupKey(b)),
  );
}

/** The (contract, method) of a call as a map key. */
export function methodKey({ call }: PaidCall): string {
  return `${call.to} ${call.selector}`;
}

function groupKey({ contract, selector, cause }: FailureGroup): string {
  return `${contract} ${selector} ${cause}`;
}

function groupOf({
  cause,
  failures,
  attempts,
}: {
  readonly cause: FailureCause;
  readonly failures: readonly PaidCall[];
  readonly attempts: readonly PaidCall[];
}): FailureGroup {
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
    longestRun: longestRun(attempts),
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
