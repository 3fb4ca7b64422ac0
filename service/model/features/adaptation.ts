import { readCurve } from "../score/curve.ts";
import { NANO } from "../score/fixed-point.ts";
import type { Feature } from "../score/measured-wallet.ts";
import type { Policy } from "../score/policy-shape.ts";
import { type Facts, gate, gatedWords, measured, shown, shrink } from "./facts.ts";
import type { OwnCall } from "./types.ts";
import type { WeighedCall } from "./weigh-calls.ts";

/** D2 adaptation: the worst of failing blindly, running out of gas and overpaying. Its value is that worst one's points. */
export function adaptation(facts: Facts): Feature {
  const { history, blind, policy } = facts;
  const { adaptation: rule } = policy;
  const overpay = medianOverpay(history.outside);
  const starved = outOfGasShare(facts);
  const worst = Math.min(
    readCurve(rule.blindCurve, blind.share),
    readCurve(rule.outOfGasCurve, starved),
    overpay === null ? 100 : readCurve(rule.overpayCurve, overpay),
  );
  return measured("adaptation", {
    value: worst,
    score: gate(facts) * shrink(worst, facts),
    samples: history.outside.length,
    reason: `blind ${shown(blind.share)}, out of gas ${shown(starved)}, overpay ${
      overpay === null ? "unknown: no block tells what the market paid" : shown(overpay)
    }; ${gatedWords(worst, facts)}`,
  });
}

/** Weight of the failures that their gas limit stopped, over the credited weight of all attempts. */
function outOfGasShare({ history, failures, policy }: Facts): number {
  const { priorCalls } = policy.adaptation;
  let weight = 0;
  for (const { call, weight: own } of failures) {
    if (ranOutOfGas(call, policy)) weight += own;
  }
  return weight / (history.credited + priorCalls * NANO);
}

/** Whether a failed call used up its gas limit, or nearly so; one that gave up all its gas on purpose looks the same. */
export function ranOutOfGas(
  { gasUsed, gasLimit }: Pick<OwnCall, "gasUsed" | "gasLimit">,
  { adaptation: rule }: Policy,
): boolean {
  return Number(gasUsed) >= rule.outOfGasShare * Number(gasLimit);
}

/** Median by weight of the prices paid over the market's, the lower of two; null where no block tells the market's. */
function medianOverpay(outside: readonly WeighedCall[]): number | null {
  const paid: { readonly overpay: number; readonly weight: number }[] = [];
  let total = 0;
  for (const { overpay, weight } of outside) {
    if (overpay === null) continue;
    paid.push({ overpay, weight });
    total += weight;
  }
  paid.sort((a, b) => a.overpay - b.overpay);
  let sum = 0;
  for (const { overpay, weight } of paid) {
    sum += weight;
    if (2 * sum >= total) return overpay;
  }
  return null;
}
