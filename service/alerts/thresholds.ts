import type { AlertThresholds } from "../db/tables/alerts.ts";
import { MICRO } from "../model/score/fixed-point.ts";
import type { WatchedValues } from "./alert-subscriptions.ts";

/** Names of values that can have a threshold, as in a record. */
export const WATCHED_VALUES = ["ahs_score", "d1_score", "d2_score", "confidence"] as const;

type WatchedValue = (typeof WATCHED_VALUES)[number];

/** A threshold below which a value is now, and was not before; `previous` is null where it was unknown. */
export type Breach = {
  readonly value: WatchedValue;
  readonly below: number;
  readonly previous: number | null;
  readonly current: number;
};

const KEYS = {
  ahs_score: "ahsScore",
  d1_score: "d1Score",
  d2_score: "d2Score",
  confidence: "confidenceMicros",
} as const satisfies Record<WatchedValue, keyof AlertThresholds>;

/**
 * Returns the thresholds that a change of score breaches: the value was at or above, or unknown, and is below now. An
 * unknown value is not below. A recovered value can breach again.
 */
export function breachesOf(
  { before, after }: { before: WatchedValues | null; after: WatchedValues },
  thresholds: AlertThresholds,
): readonly Breach[] {
  return WATCHED_VALUES.flatMap((value) => {
    const key = KEYS[value];
    const below = thresholds[key];
    const [previous, current] = [before?.[key] ?? null, after[key]];
    if (below === undefined || current === null || current >= below) return [];
    if (previous !== null && previous < below) return [];
    const shown = { below: shownAs(value, below), current: shownAs(value, current) };
    return [{ value, ...shown, previous: previous === null ? null : shownAs(value, previous) }];
  });
}

/** The thresholds of a subscription with their current values; `current` is null for a wallet never scored. */
export function thresholdsWithValues(thresholds: AlertThresholds, current: WatchedValues | null) {
  return WATCHED_VALUES.flatMap((value) => {
    const below = thresholds[KEYS[value]];
    const held = current?.[KEYS[value]] ?? null;
    if (below === undefined) return [];
    return [{ value, below: shownAs(value, below), current: held === null ? null : shownAs(value, held) }];
  });
}

/** Converts thresholds by value name (confidence 0 to 1) to their stored form; null if none is given. */
export function thresholdsFrom(
  given: Readonly<Partial<Record<WatchedValue, number | undefined>>>,
): AlertThresholds | null {
  const entries = WATCHED_VALUES.flatMap((value) => {
    const below = given[value];
    if (below === undefined) return [];
    return [[KEYS[value], value === "confidence" ? Math.round(below * MICRO) : below] as const];
  });
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

function shownAs(value: WatchedValue, stored: number): number {
  return value === "confidence" ? stored / MICRO : stored;
}
