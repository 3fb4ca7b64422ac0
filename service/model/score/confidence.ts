import { SECONDS_PER_DAY } from "../features/time.ts";
import { rampOf } from "./curve.ts";
import { clamp, decayNanos, MICRO, NANO, toMicros } from "./fixed-point.ts";
import type { Policy } from "./policy-shape.ts";
import type { ConfidenceLevel, Grade, MeasuredWallet } from "./record.ts";

/** How far a score can be believed; micros are millionths, 0 to 1,000,000. */
export type Confidence = { readonly micros: number; readonly level: ConfidenceLevel };

/** A listing is evidence enough. */
export const SANCTIONED_CONFIDENCE: Confidence = { micros: MICRO, level: "HIGH" };

/**
 * Confidence by section 4 of the scoring model in a grade, at a moment in Unix seconds not before the last own call. Only
 * successes support a grade of D or better, over two weeks or more and mostly with independent parties, not round a ring; failures support E
 * and F.
 */
export function confidenceOf(
  wallet: MeasuredWallet,
  { grade, now }: { readonly grade: Grade | null; readonly now: number },
  policy: Policy,
): Confidence {
  const { confidence: rule } = policy;
  const { evidence } = wallet;
  const { firstCallAt, lastCallAt } = evidence;
  if (firstCallAt === null || lastCallAt === null) return { micros: 0, level: "INSUFFICIENT" };

  const isFailing = grade === "E" || grade === "F";
  const weight = isFailing ? evidence.failableNanos : evidence.creditedNanos;
  const days = Math.min(
    (lastCallAt - firstCallAt) / SECONDS_PER_DAY,
    rule.daysPerActiveWeek * evidence.activeWeeks,
  );
  const amount = weight / (weight + rule.halfCalls * NANO);
  const duration = days / (days + (isFailing ? rule.failingHalfDays : rule.halfDays));
  const freshness = decayNanos(now - lastCallAt, rule.idleHalfLifeDays * SECONDS_PER_DAY) / NANO;
  const straight = 1 - rampOf(evidence.ringShare, policy.patterns.selfDealingRing.share);
  const proven = Math.min(1, (evidence.creditedShare ?? 1) / rule.provenShare) * straight;
  const product =
    amount *
    duration *
    freshness *
    (isFailing ? 1 : proven * proven) *
    coveredShare(wallet, { lastCallAt, now, policy }) *
    knownShare(wallet, policy);
  const micros = toMicros(product);
  const isEnough =
    evidence.ownCalls >= rule.minOwnCalls &&
    weight >= rule.minWeight * NANO &&
    (isFailing || days >= rule.minDays);
  return isEnough ? levelOf(micros, rule) : insufficient(micros, rule);
}

/** The same confidence for a record that cannot be scored for want of measured features. */
export function asInsufficient({ micros }: Confidence, policy: Policy): Confidence {
  return insufficient(micros, policy.confidence);
}

function levelOf(micros: number, rule: Policy["confidence"]): Confidence {
  if (micros >= toMicros(rule.high)) return { micros, level: "HIGH" };
  if (micros >= toMicros(rule.medium)) return { micros, level: "MEDIUM" };
  if (micros >= toMicros(rule.low)) return { micros, level: "LOW" };
  return insufficient(micros, rule);
}

function insufficient(micros: number, rule: Policy["confidence"]): Confidence {
  return { micros: Math.min(micros, toMicros(rule.insufficientMax)), level: "INSUFFICIENT" };
}

/** Covered part of the time from the window's start, or the chain's if that is later, to now. */
function coveredShare(
  { coverage, chainStartTimestamp }: MeasuredWallet,
  { lastCallAt, now, policy }: { readonly lastCallAt: number; readonly now: number; readonly policy: Policy },
): number {
  if (coverage.complete) return 1;
  const windowStart = lastCallAt - policy.window.days * SECONDS_PER_DAY;
  const start = chainStartTimestamp === null ? windowStart : Math.max(windowStart, chainStartTimestamp);
  if (now <= start) return 1;
  return clamp((now - coverage.fromTimestamp) / (now - start), 0, 1);
}

/** Share of the model's weight that is not unknown. */
function knownShare({ features }: MeasuredWallet, policy: Policy): number {
  let known = 0;
  for (const [position, rule] of policy.features.entries()) {
    if (features[position]?.state === "unknown") continue;
    known += rule.weightPercent * policy.dimensionPercent[rule.dimension];
  }
  return known / 10_000;
}

/** After so many half-lives of silence no confidence is left. */
const HALVINGS = 64;

const RANK: Readonly<Record<ConfidenceLevel, number>> = { HIGH: 3, MEDIUM: 2, LOW: 1, INSUFFICIENT: 0 };

/**
 * First second after a moment at which a wallet's confidence is of a lower level than at that moment, if it makes no more
 * call; null for a level that cannot fall. Times are Unix seconds.
 */
export function levelUntil(
  wallet: MeasuredWallet,
  { grade, now }: { readonly grade: Grade; readonly now: number },
  policy: Policy,
): number | null {
  const level = RANK[confidenceOf(wallet, { grade, now }, policy).level];
  if (level === 0) return null;
  // Confidence may rise at first, while an uncovered past loses weight, but once it falls it never rises again.
  let before = now;
  let after = now + HALVINGS * policy.confidence.idleHalfLifeDays * SECONDS_PER_DAY;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (RANK[confidenceOf(wallet, { grade, now: middle }, policy).level] < level) after = middle;
    else before = middle;
  }
  return after;
}
