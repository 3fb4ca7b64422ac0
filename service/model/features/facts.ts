import { clamp, NANO, roundMicro, toMicros } from "../score/fixed-point.ts";
import type { Feature } from "../score/measured-wallet.ts";
import type { Policy } from "../score/policy-shape.ts";
import type { BlindFailures, FailedCall } from "./failure-runs.ts";
import type { Holdings } from "./holdings.ts";
import type { Market } from "./market.ts";
import type { Success } from "./success.ts";
import type { GasUse, WalletRows } from "./types.ts";
import type { WeighedHistory } from "./weigh-calls.ts";

/** What every feature of one wallet is computed from; history holds at least one outside call. */
export type Facts = {
  readonly rows: WalletRows;
  readonly market: Market;
  readonly history: WeighedHistory;
  readonly success: Success;
  readonly failures: readonly FailedCall[];
  readonly blind: BlindFailures;
  readonly gas: GasUse;
  readonly holdings: Holdings;
  /** Share of the outgoing volume that went to sanctioned or mixer accounts, 0 to 1. */
  readonly exposedShare: number;
  readonly policy: Policy;
};

/** A feature that was computed; the score is in points and is rounded to 1e-6. */
export function measured(
  name: string,
  {
    value,
    score,
    samples,
    reason = null,
  }: {
    readonly value: number;
    readonly score: number;
    readonly samples: number;
    readonly reason?: string | null;
  },
): Feature {
  const scoreMicros = toMicros(clamp(score, 0, 100));
  return { name, state: "measured", value: roundMicro(value), scoreMicros, samples, reason };
}

/** A feature that this wallet cannot have. */
export function notApplicable(name: string, samples: number, reason: string): Feature {
  return { name, state: "not_applicable", value: null, scoreMicros: null, samples, reason };
}

/** A feature whose data was not read. */
export function unknown(name: string, reason: string): Feature {
  return { name, state: "unknown", value: null, scoreMicros: null, samples: 0, reason };
}

/** A number as reasons tell it, to a thousandth. */
export function shown(x: number): string {
  return String(Math.round(x * 1_000) / 1_000);
}

/** What became of points by shrinking and by the gate, for a feature's reason. */
export function gatedWords(points: number, facts: Facts): string {
  const shrunk = shrink(points, facts);
  return `${shown(points)} points, ${shown(shrunk)} shrunk by n_q ${shown(facts.history.credited / NANO)}, gate ${shown(gate(facts))}`;
}

/** g: how much a rhythm is worth, from nothing for useless calls to all of it. */
export function gate({ success, policy }: Facts): number {
  return clamp((success.steady - policy.gate.floor) / policy.gate.range, 0, 1);
}

/** shr: points drawn towards the middle where little was credited. */
export function shrink(points: number, { history, policy }: Facts): number {
  const prior = policy.shrink.calls * NANO;
  return (history.credited * points + prior * policy.shrink.points) / (history.credited + prior);
}
