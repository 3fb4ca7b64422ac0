import type { OwnCall } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { causeOf } from "./failures.ts";
import { compare } from "./report-facts.ts";

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
  "ceil(1.25 x the most gas that a success used, or the highest limit that ran out, whichever is more)";

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
