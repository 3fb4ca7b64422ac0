import { readCurve } from "../score/curve.ts";
import { divideRound, MICRO, NANO } from "../score/fixed-point.ts";
import type { Feature } from "../score/measured-wallet.ts";
import type { Policy } from "../score/policy-shape.ts";
import { type Facts, measured, shown } from "./facts.ts";
import type { GasUse, OwnCall } from "./types.ts";
import type { WeighedCall, WeighedHistory } from "./weigh-calls.ts";

/** Gas use of a history that holds outside calls, or none at all. */
export function measureGas(history: WeighedHistory, policy: Policy): GasUse {
  return {
    burnt: burntShare(history, policy),
    pricePoints: weightedPoints(history.outside, ({ overpay }) =>
      overpay === null ? null : readCurve(policy.gas.priceCurve, overpay),
    ),
    limitPoints: limitPoints(history, policy),
  };
}

/** D1 gas efficiency: fees burnt by failures, prices paid against the market's, limits against use. Its value is the share burnt. */
export function gasEfficiency({ gas: use, history, policy }: Facts): Feature {
  const { gas } = policy;
  const waste = readCurve(gas.wasteCurve, use.burnt);
  const parts = { value: use.burnt, samples: history.outside.length };
  if (use.pricePoints === null) {
    const score = gas.unpriced.wasteShare * waste + gas.unpriced.limitShare * use.limitPoints;
    const reason = `waste ${shown(waste)}, limit ${shown(use.limitPoints)} points; no block tells what the market paid`;
    return measured("gas_efficiency", { ...parts, score, reason });
  }
  const score = gas.wasteShare * waste + gas.priceShare * use.pricePoints + gas.limitShare * use.limitPoints;
  const reason = `waste ${shown(waste)}, price ${shown(use.pricePoints)}, limit ${shown(use.limitPoints)} points`;
  return measured("gas_efficiency", { ...parts, score, reason });
}

/** Weighted fees of failures over those of failures and credited successes, with a prior of some mean fees. */
function burntShare({ outside }: WeighedHistory, policy: Policy): number {
  let paid = 0n;
  let failed = 0n;
  let succeeded = 0n;
  for (const { call, weight, credited } of outside) {
    paid += call.fee;
    if (call.ok) succeeded += call.fee * BigInt(credited);
    else failed += call.fee * BigInt(weight);
  }
  // A chain without fees burns none.
  if (paid === 0n) return 0;
  const prior = (Number(paid) / outside.length) * policy.gas.priorMeanFees * NANO;
  return Number(failed) / (Number(failed) + Number(succeeded) + prior);
}

function limitPoints({ outside }: WeighedHistory, policy: Policy): number {
  const points = weightedPoints(outside, ({ call }) =>
    call.ok ? readCurve(policy.gas.limitCurve, usedShare(call)) : 0,
  );
  return points === null ? 0 : points;
}

/** Mean of points by the weight of their calls, those without points left out; null where none has any. */
function weightedPoints(
  outside: readonly WeighedCall[],
  pointsOf: (weighed: WeighedCall) => number | null,
): number | null {
  // Hundredths of a point times millionths of a call: exact integers for any wallet.
  let sum = 0;
  let weights = 0;
  for (const weighed of outside) {
    const points = pointsOf(weighed);
    if (points === null) continue;
    weights += weighed.weight;
    sum += divideRound(weighed.weight * Math.round(100 * points), NANO / MICRO);
  }
  return weights === 0 ? null : (sum * (NANO / MICRO)) / (100 * weights);
}

function usedShare({ gasUsed, gasLimit }: OwnCall): number {
  // A call without a limit of its own cannot have set it loosely.
  return gasLimit === 0n ? 1 : Number(gasUsed) / Number(gasLimit);
}
