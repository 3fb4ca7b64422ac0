import type { Address, Hex } from "viem";
import type { Policy } from "../../model/score/policy-shape.ts";
import { compareBigints, compareTexts } from "./compare.ts";
import { causeOf, methodKey } from "./failures.ts";
import { adviseLimit, type LimitAdvice } from "./gas-limits.ts";
import {
  type Money,
  type PaidCall,
  type PaidWindow,
  perMonth,
  type ReportFacts,
  sumMoney,
} from "./report-facts.ts";

/** Gas of a set of calls; everything over the window but `monthly`. */
export type GasBill = {
  readonly calls: number;
  readonly failures: number;
  readonly spent: Money;
  /** Fees of failures. */
  readonly wasted: Money;
  /** Paid above base fee and median tip of the blocks, failures included; null where no block tells its market price. */
  readonly overpaid: Money | null;
  /** Calls whose block tells its market price. */
  readonly pricedCalls: number;
  /** What the savings come to, over the window and of 30 days. */
  readonly saved: Money;
  readonly monthly: Money;
};

/** The calls of one (contract, method). */
export type MethodBill = GasBill & {
  /** Null for contract creations, and for executions whose target is not known. */
  readonly contract: Address | null;
  /** Null for plain transfers. */
  readonly selector: Hex | null;
  readonly limit: LimitAdvice;
  readonly savings: readonly Saving[];
};

export type Optimization = {
  /** The largest saving first, then the dearest, then by contract and method. */
  readonly methods: readonly MethodBill[];
  /** Sums of the methods' members. */
  readonly totals: GasBill;
};

/** What each (contract, method) of the window cost, wasted, and could have saved. */
export function optimizeGas({ paid, policy }: Pick<ReportFacts, "paid" | "policy">): Optimization {
  const methods = [...Map.groupBy(paid.calls, methodKey).values()].map((calls): MethodBill => {
    const own = calls.map(({ call }) => call);
    const savings = savingsOf(calls, { days: paid.days, policy });
    return {
      contract: own[0]?.to ?? null,
      selector: own[0]?.selector ?? null,
      ...billOf(calls),
      saved: sumMoney(savings.map(({ window }) => window)),
      monthly: sumMoney(savings.map(({ monthly }) => monthly)),
      limit: adviseLimit(own, policy),
      savings,
    };
  });
  return { methods: methods.toSorted(bySaving), totals: totalOf(methods) };
}

function billOf(calls: readonly PaidCall[]): Omit<GasBill, "saved" | "monthly"> {
  const failed = calls.filter(({ call }) => !call.ok);
  const overpaid = calls.flatMap(({ overpaid }) => (overpaid === null ? [] : [overpaid]));
  return {
    calls: calls.length,
    failures: failed.length,
    spent: sumMoney(calls.map(({ fee }) => fee)),
    wasted: sumMoney(failed.map(({ fee }) => fee)),
    overpaid: overpaid.length === 0 ? null : sumMoney(overpaid),
    pricedCalls: overpaid.length,
  };
}

/** The sum of bills, member by member. */
export function totalOf(bills: readonly GasBill[]): GasBill {
  const count = (of: (bill: GasBill) => number) => bills.reduce((sum, bill) => sum + of(bill), 0);
  const overpaid = bills.flatMap(({ overpaid }) => (overpaid === null ? [] : [overpaid]));
  return {
    calls: count(({ calls }) => calls),
    failures: count(({ failures }) => failures),
    spent: sumMoney(bills.map(({ spent }) => spent)),
    wasted: sumMoney(bills.map(({ wasted }) => wasted)),
    overpaid: overpaid.length === 0 ? null : sumMoney(overpaid),
    pricedCalls: count(({ pricedCalls }) => pricedCalls),
    saved: sumMoney(bills.map(({ saved }) => saved)),
    monthly: sumMoney(bills.map(({ monthly }) => monthly)),
  };
}

function bySaving(a: MethodBill, b: MethodBill): number {
  return (
    compareBigints(b.saved.wei, a.saved.wei) ||
    compareBigints(b.spent.wei, a.spent.wei) ||
    compareTexts(`${a.contract} ${a.selector}`, `${b.contract} ${b.selector}`)
  );
}

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
function savingsOf(
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
