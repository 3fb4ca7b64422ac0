import { measureWallet } from "../../../../service/model/features/score-wallet.ts";
import type { WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import type { Feature, MeasuredWallet } from "../../../../service/model/score/record.ts";
import { callsOf, rowsOf, type Step } from "./histories.ts";

/** The wallet that made these calls, measured by AHS-2026.2. */
export function measure(steps: readonly Step[], parts: Partial<WalletRows> = {}): MeasuredWallet {
  return measureWallet(rowsOf(callsOf(steps), parts), AHS_2026_2);
}

/** One feature of the wallet that made these calls. */
export function measureFeature(
  name: string,
  steps: readonly Step[],
  parts: Partial<WalletRows> = {},
): Feature {
  return featureOf(name, measure(steps, parts));
}

/** One feature of a measured wallet. */
export function featureOf(name: string, wallet: MeasuredWallet): Feature {
  const feature = wallet.features.find((one) => one.name === name);
  if (feature === undefined) throw new Error(`no feature ${name}`);
  return feature;
}

/** Its score in points; throws where it is not measured. */
export function pointsOf(name: string, steps: readonly Step[], parts: Partial<WalletRows> = {}): number {
  const feature = measureFeature(name, steps, parts);
  if (feature.state !== "measured") throw new Error(`${name} is ${feature.state}: ${feature.reason}`);
  return feature.scoreMicros / 1_000_000;
}

/** So many copies of a step, one every so many seconds. */
export function repeat(times: number, every: number, step: Step): readonly Step[] {
  return Array.from({ length: times }, (_, position) => ({ ...step, at: step.at + position * every }));
}
