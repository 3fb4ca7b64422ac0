import { readCurve } from "../score/curve.ts";
import { divideRound, logTwo, MICRO, NANO, powerOfTwo } from "../score/fixed-point.ts";
import type { Feature } from "../score/measured-wallet.ts";
import { type Facts, gate, gatedWords, measured, shrink } from "./facts.ts";

/**
 * D2 counterparty diversity: effective number of outside counterparties, 2 to the entropy of their credited weight; those of
 * one owner are one. It is 0 where none has any credit, which scores as one does.
 */
export function counterpartyDiversity(facts: Facts): Feature {
  const entropy = entropyBits(facts);
  const points = readCurve(facts.policy.diversity.curve, entropy === null ? 0 : entropy);
  return measured("counterparty_diversity", {
    value: entropy === null ? 0 : powerOfTwo(entropy),
    score: gate(facts) * shrink(points, facts),
    samples: facts.history.outside.length,
    reason: gatedWords(points, facts),
  });
}

/** log2 W − Σ x·log2 x / W over the credited weights x of the counterparties, W their sum in millionths of a call; null where W is 0. */
function entropyBits({ history }: Facts): number | null {
  const weights = new Array<number>(history.counterparties).fill(0);
  for (const { counterparty, credited } of history.outside) {
    weights[counterparty] = (weights[counterparty] ?? 0) + credited;
  }
  let total = 0;
  let surprise = 0;
  for (const weight of weights) {
    const micros = divideRound(weight, NANO / MICRO);
    if (micros === 0) continue;
    total += micros;
    surprise += Math.round(micros * logTwo(micros));
  }
  return total === 0 ? null : Math.max(0, logTwo(total) - surprise / total);
}
