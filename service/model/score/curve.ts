import { clamp } from "./fixed-point.ts";
import type { Curve, Policy, Ramp } from "./policy-shape.ts";

/** Reads a piecewise linear curve at x, flat outside its anchors; throws on a curve without anchors. */
export function readCurve(curve: Curve, x: number): number {
  let left = curve[0];
  if (left === undefined) throw new RangeError("a curve needs an anchor");
  for (const right of curve) {
    if (x <= right[0]) {
      if (right === left) return right[1];
      return left[1] + ((right[1] - left[1]) * (x - left[0])) / (right[0] - left[0]);
    }
    left = right;
  }
  return left[1];
}

/** A curve that a feature reads, and the unit of its x. */
type FeatureCurve = { readonly name: string; readonly xUnit: string; readonly curve: Curve };

/** The curves of every feature by its name, in the order of the policy; empty where a feature reads none. */
export function featureCurves(policy: Policy): ReadonlyMap<string, readonly FeatureCurve[]> {
  const { success, gas, holdings, timing, diversity, adaptation, recovery, consistency } = policy;
  const read: Readonly<Record<string, readonly FeatureCurve[]>> = {
    success_rate: [{ name: "success", xUnit: "share of calls", curve: success.curve }],
    gas_efficiency: [
      { name: "waste", xUnit: "share of fees burnt", curve: gas.wasteCurve },
      { name: "price", xUnit: "price paid over the market's", curve: gas.priceCurve },
      { name: "limit", xUnit: "gas used over its limit", curve: gas.limitCurve },
    ],
    portfolio_quality: [{ name: "quality", xUnit: "share of value", curve: holdings.qualityCurve }],
    dust_and_spam: [{ name: "dust", xUnit: "share of tokens", curve: holdings.dustCurve }],
    risk_flags: [],
    timing_regularity: [
      { name: "burst", xUnit: "burstiness", curve: timing.burstCurve },
      {
        name: "silence",
        xUnit: "longest silence over a random process's longest",
        curve: timing.silenceCurve,
      },
    ],
    counterparty_diversity: [
      { name: "diversity", xUnit: "log2 of effective counterparties", curve: diversity.curve },
    ],
    adaptation: [
      { name: "blind", xUnit: "share of blind failures", curve: adaptation.blindCurve },
      { name: "out_of_gas", xUnit: "share of out-of-gas failures", curve: adaptation.outOfGasCurve },
      { name: "overpay", xUnit: "median price paid over the market's", curve: adaptation.overpayCurve },
    ],
    failure_recovery: [
      { name: "delay", xUnit: "seconds to the next success", curve: recovery.delayCurve },
      { name: "burden", xUnit: "burden of failures", curve: recovery.curve },
    ],
    consistency: [
      { name: "activity", xUnit: "active weeks over weeks in the span", curve: consistency.activityCurve },
      { name: "week", xUnit: "success of a week, share of calls", curve: success.curve },
    ],
  };
  return new Map(policy.features.map(({ name }) => [name, curvesOf(read, name)]));
}

function curvesOf(
  read: Readonly<Record<string, readonly FeatureCurve[]>>,
  name: string,
): readonly FeatureCurve[] {
  const curves = read[name];
  if (curves === undefined) throw new Error(`no feature is named ${name}`);
  return curves;
}

/** 0 where a ramp begins, 1 where it is whole, and linear between. */
export function rampOf(measure: number, { begins, whole }: Ramp): number {
  return clamp((measure - begins) / (whole - begins), 0, 1);
}
