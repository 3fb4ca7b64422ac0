import type { Address, Hex } from "viem";
import type { Policy } from "../../model/score/policy-shape.ts";
import { compareBigints, compareTexts } from "./compare.ts";
import { causeOf, methodKey } from "./failures.ts";
import { adviseLimit } from "./gas-limits.ts";
import { type Money, type PaidCall, type PaidWindow, perMonth, sumMoney } from "./gas-spending.ts";

/**
 * What would have cost less. simulate_first: reverted calls that a simulation would have held back. raise_gas_limit: calls
 * that ran into their limit. pay_market_price: successes that paid more per gas than base fee and median tip of their block.
 * The three are disjoint, so that all savings together are never more than what was spent.
 */
type SavingKind = "simulate_first" | "raise_gas_limit" | "pay_market_price";

/** What one change would have saved on one (contract, method) at most. */
export type Saving = {
  readonly kind: SavingKind;
  /** Null for contract creations, and for executions whose target is not known. */
  readonly contract: Address | null;
  /** Null for plain transfers. */
  readonly selector: Hex | null;
  /** Calls that would have cost less. */
  readonly calls: number;
  /** Over the window. */
  readonly window: Money;
  /** window x 30 / days, rounded down. */
  readonly monthly: Money;
  /** Limit that `LIMIT_FORMULA` suggests for raise_gas_limit; null for the other kinds. */
  readonly suggestedLimit: bigint | null;
};

/** Savings of a wallet by contract, method and kind; the largest first, then by contract, method and kind. */
export function findSavings({ calls, days }: PaidWindow, policy: Policy): readonly Saving[] {
  const savings = [...Map.groupBy(calls, methodKey).values()].flatMap((group) =>
    savingsOf(group, { days, policy }),
  );
  return savings.toSorted(
    (a, b) => compareBigints(b.window.wei, a.window.wei) || compareTexts(savingKey(a), savingKey(b)),
  );
}

/** Savings on the calls of one (contract, method); none of nothing. */
export function savingsOf(
  calls: readonly PaidCall[],
  { days, policy }: { readonly days: number; readonly policy: Policy },
): readonly Saving[] {
  const first = calls[0]?.call;
  if (first === undefined) return [];
  const failed = calls.filter(({ call }) => !call.ok);
  const starved = failed.filter(({ call }) => causeOf(call, policy) === "out_of_gas");
  const reverted = failed.filter(({ call }) => causeOf(call, policy) === "reverted");
  const dear = calls.flatMap(({ call, overpaid }) => (call.ok && overpaid !== null ? [overpaid] : []));
  const amounts: readonly (readonly [SavingKind, readonly Money[]])[] = [
    ["simulate_first", reverted.map(({ fee }) => fee)],
    ["raise_gas_limit", starved.map(({ fee }) => fee)],
    ["pay_market_price", dear],
  ];
  return amounts.flatMap(([kind, parts]) => {
    const spent = parts.filter(({ wei }) => wei > 0n);
    if (spent.length === 0) return [];
    const window = sumMoney(spent);
    return [
      {
        kind,
        contract: first.to,
        selector: first.selector,
        calls: spent.length,
        window,
        monthly: perMonth(window, days),
        suggestedLimit:
          kind === "raise_gas_limit"
            ? adviseLimit(
                calls.map(({ call }) => call),
                policy,
              ).suggested
            : null,
      },
    ];
  });
}

function savingKey({ contract, selector, kind }: Saving): string {
  return `${contract} ${selector} ${kind}`;
}
