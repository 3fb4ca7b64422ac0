import { readCurve } from "../score/curve.ts";
import { divideRound, MICRO, NANO } from "../score/fixed-point.ts";
import type { Feature } from "../score/measured-wallet.ts";
import { type Facts, measured } from "./facts.ts";

/** D1 gas efficiency: fees burnt by failures, and how close the gas limits are to the gas used. Its value is the share burnt. */
export function gasEfficiency(facts: Facts): Feature {
  const { gas } = facts.policy;
  const wasted = wastedShare(facts);
  const score = gas.wasteShare * readCurve(gas.wasteCurve, wasted) + gas.limitShare * limitScore(facts);
  return measured("gas_efficiency", { value: wasted, score, samples: facts.history.outside.length });
}

/** Weighted fees of failures over those of failures and credited successes, with a prior of some mean fees. */
function wastedShare({ history, policy }: Facts): number {
  let paid = 0n;
  let failed = 0n;
  let succeeded = 0n;
  for (const { call, weight, credited } of history.outside) {
    paid += call.fee;
    if (call.ok) succeeded += call.fee * BigInt(credited);
    else failed += call.fee * BigInt(weight);
  }
  // A chain without fees burns none.
  if (paid === 0n) return 0;
  const prior = (Number(paid) / history.outside.length) * policy.gas.priorMeanFees * NANO;
  return Number(failed) / (Number(failed) + Number(succeeded) + prior);
}

/** Weighted mean of the limit curve over all outside calls, where a failed call scores nothing. */
function limitScore({ history, policy }: Facts): number {
  // Hundredths of a point times millionths of a call: exact integers for any wallet.
  let sum = 0;
  let weights = 0;
  for (const { call, weight } of history.outside) {
    weights += weight;
    if (!call.ok) continue;
    const hundredths = Math.round(100 * readCurve(policy.gas.limitCurve, usedShare(call)));
    sum += divideRound(weight * hundredths, NANO / MICRO);
  }
  return (sum * (NANO / MICRO)) / (100 * weights);
}

function usedShare(call: { readonly gasUsed: bigint; readonly gasLimit: bigint }): number {
  return Number(call.gasUsed) / Number(call.gasLimit);
}
