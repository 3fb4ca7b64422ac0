import type { Address, Hex } from "viem";
import { compareBigints, compareTexts } from "./compare.ts";
import { methodKey } from "./failures.ts";
import { adviseLimit, type LimitAdvice } from "./gas-limits.ts";
import { type Money, type PaidCall, sumMoney } from "./gas-spending.ts";
import type { ReportFacts } from "./health-facts.ts";
import { type Saving, savingsOf } from "./savings.ts";

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
