import { SECONDS_PER_DAY } from "../features/time.ts";
import { rampOf } from "./curve.ts";
import { clamp, decayNanos, MICRO, NANO, toMicros } from "./fixed-point.ts";
import type { Policy } from "./policy-shape.ts";
import type { ConfidenceLevel, Grade, MeasuredWallet } from "./record.ts";

/** How far a score can be believed; micros are millionths, 0 to 1,000,000. */
export type Confidence = {
  readonly micros: number;
  readonly level: ConfidenceLevel;
  /** The condition of a grade that is not met, in words; null where all are. */
  readonly missing: string | null;
};

/** A listing is evidence enough. */
export const SANCTIONED_CONFIDENCE: Confidence = { micros: MICRO, level: "HIGH", missing: null };

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
  if (firstCallAt === null || lastCallAt === null)
    return { micros: 0, level: "INSUFFICIENT", missing: "it made no call in the window" };

  const isFailing = grade === "E" || grade === "F";
  const weight = isFailing ? evidence.failableNanos : evidence.creditedNanos;
  const span = (lastCallAt - firstCallAt) / SECONDS_PER_DAY;
  const days = Math.min(span, rule.daysPerActiveWeek * evidence.activeWeeks);
  const straight = 1 - rampOf(evidence.ringShare, policy.patterns.selfDealingRing.share);
  const independent = Math.min(1, (evidence.creditedShare ?? 1) / rule.provenShare);
  const proven = independent * straight;
  const counted = `its calls count as ${tenths(weight / NANO)} with ${isFailing ? "others" : "independent parties"}`;
  const lasting =
    days < span
      ? `its calls fall into few weeks, which count as ${tenths(days)} days`
      : `its calls span ${tenths(days)} days`;
  const factors: readonly Factor[] = [
    [weight / (weight + rule.halfCalls * NANO), counted],
    [days / (days + (isFailing ? rule.failingHalfDays : rule.halfDays)), lasting],
    [
      decayNanos(now - lastCallAt, rule.idleHalfLifeDays * SECONDS_PER_DAY) / NANO,
      `its last call was ${tenths((now - lastCallAt) / SECONDS_PER_DAY)} days before the block of the score`,
    ],
    [
      isFailing ? 1 : proven * proven,
      straight < independent
        ? `${percent(evidence.ringShare)} of its activity goes round within its owner's accounts`
        : `only ${percent(evidence.creditedShare ?? 1)} of its activity counts as with independent parties`,
    ],
    [coveredShare(wallet, { lastCallAt, now, policy }), "only a part of its time is indexed"],
    [knownShare(wallet, policy), "much of what the model weighs is not known"],
  ];
  const micros = toMicros(factors.reduce((product, [factor]) => product * factor, 1));
  if (evidence.ownCalls < rule.minOwnCalls)
    return insufficient(
      micros,
      `it made ${evidence.ownCalls} of the ${rule.minOwnCalls} calls that a grade needs`,
      rule,
    );
  if (weight < rule.minWeight * NANO)
    return insufficient(micros, `${counted}, and a grade needs ${rule.minWeight}`, rule);
  if (!isFailing && days < rule.minDays)
    return insufficient(micros, `${lasting}, and a grade needs ${rule.minDays}`, rule);
  return levelOf(micros, factors, rule);
}

/** One factor of confidence, 0 to 1, and what it says of the wallet. */
type Factor = readonly [factor: number, says: string];

/** The same confidence for a record that cannot be scored for want of measured features. */
export function asInsufficient({ micros, missing }: Confidence, policy: Policy): Confidence {
  return insufficient(micros, missing ?? "too few of its features can be measured", policy.confidence);
}

function levelOf(micros: number, factors: readonly Factor[], rule: Policy["confidence"]): Confidence {
  if (micros >= toMicros(rule.high)) return { micros, level: "HIGH", missing: null };
  if (micros >= toMicros(rule.medium)) return { micros, level: "MEDIUM", missing: null };
  if (micros >= toMicros(rule.low)) return { micros, level: "LOW", missing: null };
  const [least] = factors.toSorted(([one], [other]) => one - other);
  const known = `confidence is ${Math.floor(micros / 10_000)}%, and a grade needs ${percent(rule.low)}`;
  return insufficient(micros, least === undefined ? known : `${known}: ${least[1]}`, rule);
}

function insufficient(micros: number, missing: string, rule: Policy["confidence"]): Confidence {
  return { micros: Math.min(micros, toMicros(rule.insufficientMax)), level: "INSUFFICIENT", missing };
}

/** Rounded down, so that no value that is short of a bound is shown as the bound. */
function tenths(value: number): number {
  return Math.floor(10 * value) / 10;
}

function percent(share: number): string {
  return `${Math.round(100 * share)}%`;
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
