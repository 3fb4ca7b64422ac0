import { measureWallet } from "../../../service/features/measure-wallet.ts";
import type { Feature, MeasuredWallet } from "../../../service/score/measured-wallet.ts";
import { AHS_2026_0 } from "../../../service/score/policy.ts";
import { callsOf, rowsOf, type Step } from "./histories.ts";

/** The wallet that made these calls, measured by AHS-2026.0. */
export function measure(steps: readonly Step[]): MeasuredWallet {
  return measureWallet(rowsOf(callsOf(steps)), AHS_2026_0);
}

/** One feature of the wallet that made these calls. */
export function measureFeature(name: string, steps: readonly Step[]): Feature {
  const feature = measure(steps).features.find((one) => one.name === name);
  if (feature === undefined) throw new Error(`no feature ${name}`);
  return feature;
}

/** Its score in points; throws where it is not measured. */
export function pointsOf(name: string, steps: readonly Step[]): number {
  const feature = measureFeature(name, steps);
  if (feature.state !== "measured") throw new Error(`${name} is ${feature.state}: ${feature.reason}`);
  return feature.scoreMicros / 1_000_000;
}

/** So many copies of a step, one every so many seconds. */
export function repeat(times: number, every: number, step: Step): readonly Step[] {
  return Array.from({ length: times }, (_, position) => ({ ...step, at: step.at + position * every }));
}
