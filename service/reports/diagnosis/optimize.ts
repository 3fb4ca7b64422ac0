import { choseGas } from "../../model/features/hygiene.ts";
import type { OwnCall } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { causeOf, methodKey } from "./failures.ts";
import { compare, type Money, type PaidCall, perMonth, type ReportFacts, sumMoney } from "./report-facts.ts";

/** Gas of a set of calls; everything over the window but `monthly`. */
export type GasBill = {
  readonly calls: number;
  readonly failures: number;
  readonly spent: Money;
  readonly wasted: Money;
  /** Fees above base fee plus median tip of the blocks, failures included; null if no block has a known market price. */
  readonly overpaid: Money | null;
  /** Calls in blocks with a known market price. */
  readonly pricedCalls: number;
  /** Sum of the savings, over the window and per 30 days. */
  readonly saved: Money;
  readonly monthly: Money;
};

export type Optimization = ReturnType<typeof optimizeGas>;

/**
 * Fees, waste and possible savings of each (contract, method) of the window: the largest saving first, then the dearest,
 * then by contract and method. The contract is null for creations and unknown targets, the selector for plain transfers. Signed
 * payments are left out: other accounts chose and paid their gas.
 */
export function optimizeGas({ paid, policy }: Pick<ReportFacts, "paid" | "policy">) {
  const methods = [...Map.groupBy(paidGas(paid.calls), methodKey).values()].map((calls) => {
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
  const keyOf = ({ contract, selector }: (typeof methods)[number]) => `${contract} ${selector}`;
  const sorted = methods.toSorted(
    (a, b) =>
      compare(b.saved.wei, a.saved.wei) || compare(b.spent.wei, a.spent.wei) || compare(keyOf(a), keyOf(b)),
  );
  return { methods: sorted, totals: totalOf(methods) };
}

function paidGas(calls: readonly PaidCall[]): readonly PaidCall[] {
  return calls.filter(({ call }) => choseGas(call));
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

/** Largest possible saving of one change on one (contract, method). */
export type Saving = ReturnType<typeof savingsOf>[number];

/** Savings of a wallet by contract, method and kind; the largest first, then by contract, method and kind. */
export function findSavings({ calls, days }: ReportFacts["paid"], policy: Policy): readonly Saving[] {
  const savings = [...Map.groupBy(calls, methodKey).values()].flatMap((group) =>
    savingsOf(group, { days, policy }),
  );
  const keyOf = ({ contract, selector, kind }: Saving) => `${contract} ${selector} ${kind}`;
  return savings.toSorted((a, b) => compare(b.window.wei, a.window.wei) || compare(keyOf(a), keyOf(b)));
}

/** A habit is two calls at least: a single one says nothing of the next month. */
const HABIT = 2;

/** Savings on the calls of one (contract, method); empty if nothing can be saved. */
function savingsOf(calls: readonly PaidCall[], { days, policy }: { days: number; policy: Policy }) {
  const first = calls[0]?.call;
  if (first === undefined || calls.length < HABIT) return [];
  const failed = calls.filter(({ call }) => !call.ok);
  const starved = failed.filter(({ call }) => causeOf(call, policy) === "out_of_gas");
  const reverted = failed.filter(({ call }) => causeOf(call, policy) === "reverted");
  const dear = calls.flatMap(({ call, overpaid }) => (call.ok && overpaid !== null ? [overpaid] : []));
  const limit = adviseLimit(
    calls.map(({ call }) => call),
    policy,
  );
  /**
   * simulate_first: a simulation would have prevented reverted calls. set_gas_limit: calls ran out of gas, of which one
   * suffices, since the other calls show the needed limit. pay_market_price: successes paid more per gas than base fee
   * plus median tip of their block. The three are disjoint, so that their sum never exceeds the fees.
   */
  const amounts = [
    ["simulate_first", HABIT, reverted.map(({ fee }) => fee)],
    ["set_gas_limit", 1, starved.map(({ fee }) => fee)],
    ["pay_market_price", HABIT, dear],
  ] as const;
  return amounts.flatMap(([kind, least, parts]) => {
    const spent = parts.filter(({ wei }) => wei > 0n);
    if (spent.length < least) return [];
    const window = sumMoney(spent);
    return [
      {
        kind,
        limit,
        days,
        contract: first.to,
        selector: first.selector,
        calls: spent.length,
        /** Calls of the (contract, method) in the window. */
        attempts: calls.length,
        window,
        monthly: perMonth(window, days),
      },
    ];
  });
}

/** Gas limits against gas used; all in units of gas. Percentiles are by nearest rank, and null without samples. */
export type LimitAdvice = ReturnType<typeof adviseLimit>;

/** Below it the nearest rank of the 95th percentile is the maximum. */
const WHOLE_SAMPLE = 20;

/**
 * Formula of the suggested limit. A refund of up to a fifth of the gas is paid back after the call, so that a call may
 * need 5/4 of the gas used. It takes the maximum and not a percentile: a limit too low costs a call, one too high costs
 * nothing.
 */
export const LIMIT_FORMULA =
  "125% of the most gas that a successful call used, or of the highest limit that ran out if that is higher, rounded up";

/** Gas limits of the calls of one (contract, method); calls without a limit of their own are left out. */
export function adviseLimit(calls: readonly OwnCall[], policy: Policy) {
  const limited = calls.filter(({ gasLimit }) => gasLimit > 0n);
  const limits = sorted(limited.map(({ gasLimit }) => gasLimit));
  const used = sorted(limited.filter(({ ok }) => ok).map(({ gasUsed }) => gasUsed));
  const exhausted = sorted(
    limited
      .filter((call) => !call.ok && causeOf(call, policy) === "out_of_gas")
      .map(({ gasLimit }) => gasLimit),
  );
  const measured = {
    /** Successful calls, the base of the percentiles: a failure does not show the whole use. */
    samples: used.length,
    /** Fewer than 20 samples: their 95th percentile is their maximum. */
    smallSample: used.length < WHOLE_SAMPLE,
    medianLimit: nearestRank(limits, 50),
    highestLimit: limits.at(-1) ?? null,
    p50Used: nearestRank(used, 50),
    p95Used: nearestRank(used, 95),
    maxUsed: used.at(-1) ?? null,
    /** Highest limit that a call used up; null without one. */
    exhaustedLimit: exhausted.at(-1) ?? null,
  };
  const { maxUsed, exhaustedLimit } = measured;
  const needed = sorted([maxUsed, exhaustedLimit].filter((gas) => gas !== null)).at(-1);
  /** By `LIMIT_FORMULA`; null if no call shows the needed gas. */
  const suggested = needed === undefined ? null : (needed * 5n + 3n) / 4n;
  return { ...measured, suggested, state: stateOf({ ...measured, suggested }, policy) };
}

export function nearestRank(sortedNumbers: readonly bigint[], percent: number): bigint | null {
  const rank = Math.ceil((percent * sortedNumbers.length) / 100);
  return sortedNumbers[Math.max(0, rank - 1)] ?? null;
}

/**
 * How well the gas limits of one (contract, method) fit. too_low: a call ran out of gas, and the highest limit is below the
 * suggested one. generous: the median limit is above the suggested one and above the model's bound for the 95th percentile.
 * unknown: no call shows the needed gas.
 */
function stateOf(
  {
    suggested,
    exhaustedLimit,
    highestLimit,
    medianLimit,
    p95Used,
  }: Readonly<
    Record<"suggested" | "exhaustedLimit" | "highestLimit" | "medianLimit" | "p95Used", bigint | null>
  >,
  { gas }: Policy,
): "fits" | "generous" | "too_low" | "unknown" {
  if (suggested === null || highestLimit === null || medianLimit === null) return "unknown";
  if (exhaustedLimit !== null && highestLimit < suggested) return "too_low";
  const careful = gas.limitCurve.at(-1)?.[0];
  if (p95Used === null || careful === undefined || suggested >= medianLimit) return "fits";
  return Number(p95Used) < careful * Number(medianLimit) ? "generous" : "fits";
}

function sorted(numbers: readonly bigint[]): readonly bigint[] {
  return numbers.toSorted(compare);
}
