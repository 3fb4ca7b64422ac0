import { compareBigints } from "./compare.ts";
import { type PaidWindow, sumMoney } from "./gas-spending.ts";
import { adviceOnSaving } from "./health-advice.ts";
import type { Saving } from "./savings.ts";

/** What to do about costly habits; small_savings: several that are worth less than a cent a month each. */
type SavingAdvice = {
  readonly action: Saving["kind"] | "small_savings";
  readonly description: string;
  readonly reason: string;
  /** Millionths of a US dollar; null where no feed prices the native coin. */
  readonly monthlyMicroUsd: number | null;
};

/** A cent. */
const SMALL_MICRO_USD = 10_000;

/** Wei of failures' fees, and of what successes paid above the market as far as their blocks tell it: all that could be saved. */
export function avoidableWei({ calls }: PaidWindow): bigint {
  return calls.reduce((sum, { call, fee, overpaid }) => {
    if (!call.ok) return sum + fee.wei;
    return overpaid === null ? sum : sum + overpaid.wei;
  }, 0n);
}

/** The largest saving first, by US dollars, then by wei; those below a cent a month in one last step. */
export function adviseSavings(savings: readonly Saving[], days: number): readonly SavingAdvice[] {
  const sorted = savings.filter(({ monthly }) => monthly.wei > 0n).toSorted(byWorth);
  const small = sorted.filter(isSmall);
  if (small.length < 2) return sorted.map((saving) => adviseOn(saving, days));
  const large = sorted.filter((saving) => !isSmall(saving));
  return [...large.map((saving) => adviseOn(saving, days)), sumUp(small)];
}

function isSmall({ monthly: { microUsd } }: Saving): boolean {
  return microUsd !== null && microUsd < SMALL_MICRO_USD;
}

/** What has no price comes last. */
function byWorth({ monthly: a }: Saving, { monthly: b }: Saving): number {
  return (b.microUsd ?? -1) - (a.microUsd ?? -1) || compareBigints(b.wei, a.wei);
}

function adviseOn(saving: Saving, days: number): SavingAdvice {
  const { action, reason, evidence } = adviceOnSaving(saving, days);
  return {
    action: saving.kind,
    description: action,
    reason: `${reason} ${evidence}.`,
    monthlyMicroUsd: saving.monthly.microUsd,
  };
}

function sumUp(small: readonly Saving[]): SavingAdvice {
  const { wei, microUsd } = sumMoney(small.map(({ monthly }) => monthly));
  return {
    action: "small_savings",
    description: `Look at the ${small.length} costly habits that GET /optimize/{address} lists besides, if at all.`,
    reason: `Each costs less than a cent a month: ${wei} wei a month together.`,
    monthlyMicroUsd: microUsd,
  };
}
