import { type Address, checksumAddress } from "viem";
import type { RoutingAction } from "../model/score/record.ts";
import { DEFAULT_ROUTING, type RoutingFacts, routeWallet } from "../model/score/route.ts";
import { type AlertEvent, TEST_EVENT, THRESHOLD_EVENT } from "./alert-events.ts";
import type { ToldScore } from "./alert-scores.ts";
import type { StoredSubscription } from "./alert-subscriptions.ts";
import type { LiveSubscription } from "./live-subscriptions.ts";
import { newEvent } from "./new-event.ts";
import { type Breach, breachesOf, standingOfThresholds } from "./thresholds.ts";
import type { NewEvent } from "./webhook-events.ts";

/** What a write of scores made of one wallet's current score. */
export type ScoreChange = {
  readonly chainId: number;
  /** Lower-case. */
  readonly wallet: Address;
  /** Null for a wallet without a score. */
  readonly before: ToldScore | null;
  readonly after: ToldScore;
};

const MICROS = 1_000_000;

/**
 * The events that a change of a wallet's score means for one subscription: of its grade and of its level of confidence, where a
 * wallet never scored has no grade and is INSUFFICIENT; of a listing where there was no listing before; and one of all thresholds
 * that it took a value below. No change, no event.
 */
export function planEvents(
  change: ScoreChange,
  subscription: LiveSubscription,
  at: Date,
): readonly NewEvent[] {
  const breached = breachesOf(change, subscription.thresholds);
  return changesOf(change, breached)
    .filter((type) => subscription.events.includes(type))
    .map((type) =>
      newEvent({
        type,
        subscription,
        // With the time: a score that two reorgs bring back follows the same one again, and is told again.
        dedupeKey: `${type}:${change.before?.scoreId ?? "none"}:${change.after.scoreId}:${at.getTime()}`,
        at,
        data: changeData(type, change, breached),
        state: subscription.isDisabled ? "dropped" : "pending",
      }),
    );
}

/** The event by which an owner sees that the endpoint answers; the same `ask` gives the same event. */
export function testEvent(
  subscription: StoredSubscription,
  { at, ask }: { readonly at: Date; readonly ask: string },
): NewEvent {
  return newEvent({
    type: TEST_EVENT,
    subscription,
    dedupeKey: `${TEST_EVENT}:${ask}`,
    at,
    data: {
      address: checksumAddress(subscription.wallet),
      chain_id: subscription.chainId,
      events: subscription.events,
      thresholds: standingOfThresholds(subscription.thresholds, subscription.watched),
      expires_at: subscription.expiresAt.toISOString(),
    },
    state: "pending",
  });
}

function changesOf({ before, after }: ScoreChange, breached: readonly Breach[]): readonly AlertEvent[] {
  const isRegraded = (before?.grade ?? null) !== after.grade;
  const isHit = after.sanctioned && before?.sanctioned !== true;
  const isSurer = (before?.confidenceLevel ?? "INSUFFICIENT") !== after.confidenceLevel;
  const changes: readonly (readonly [AlertEvent, boolean])[] = [
    ["ahs.grade_changed", isRegraded],
    [THRESHOLD_EVENT, breached.length > 0],
    ["ahs.sanctions_hit", isHit],
    ["ahs.confidence_changed", isSurer],
  ];
  return changes.flatMap(([type, isTrue]) => (isTrue ? [type] : []));
}

function changeData(type: AlertEvent, change: ScoreChange, breached: readonly Breach[]): object {
  const { before, after, wallet, chainId } = change;
  const told = {
    address: checksumAddress(wallet),
    chain_id: chainId,
    previous: standingOf(wallet, before),
    current: standingOf(wallet, after),
    confidence: after.confidenceMicros / MICROS,
    confidence_level: after.confidenceLevel,
    as_of_block: after.asOfBlock,
    as_of_time: after.asOfTime.toISOString(),
    inputs_hash: after.inputsHash,
  };
  switch (type) {
    case "ahs.grade_changed":
      return told;
    case "ahs.confidence_changed":
      return {
        ...told,
        previous_confidence: before === null ? null : before.confidenceMicros / MICROS,
        previous_confidence_level: before?.confidenceLevel ?? null,
      };
    case "ahs.threshold_breached":
      return { ...told, breached };
    case "ahs.sanctions_hit":
      return { ...told, sanctions_flags: after.sanctionsFlags };
  }
}

/** A score as a payment is routed by it under the default table. */
function standingOf(wallet: Address, score: ToldScore | null) {
  const facts = { wallet, sanctioned: score?.sanctioned === true, score: routedScore(score) };
  const action: RoutingAction = routeWallet(DEFAULT_ROUTING, facts).action;
  return { grade: score?.grade ?? null, ahs_score: score?.ahsScore ?? null, trust_routing: action };
}

function routedScore(score: ToldScore | null): RoutingFacts["score"] {
  if (score === null) return { kind: "not_scored" };
  if (score.grade === null) return { kind: "insufficient" };
  return { kind: "scored", grade: score.grade, confidenceLevel: score.confidenceLevel };
}
