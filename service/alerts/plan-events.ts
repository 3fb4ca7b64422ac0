import { hash } from "node:crypto";
import { type Address, checksumAddress } from "viem";
import type { RoutingAction } from "../score/record.ts";
import { DEFAULT_ROUTING, type RoutingFacts, routeWallet } from "../score/route.ts";
import type { ToldScore } from "../store/alert-scores.ts";
import type { LiveSubscription, StoredSubscription } from "../store/alert-subscriptions.ts";
import type { NewEvent } from "../store/webhook-events.ts";
import { type AlertEvent, TEST_EVENT, type WebhookType } from "./alert-events.ts";

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
 * The events that a change of a wallet's score means for one subscription: of its grade, where none is a grade like others and
 * a wallet never scored has none, and of a listing where there was no listing before. No change, no event.
 */
export function planEvents(
  change: ScoreChange,
  subscription: LiveSubscription,
  at: Date,
): readonly NewEvent[] {
  return changesOf(change)
    .filter((type) => subscription.events.includes(type))
    .map((type) =>
      newEvent({
        type,
        subscription,
        // By the scores before and after: the same two never follow each other in two ways.
        dedupeKey: `${type}:${change.before?.scoreId ?? "none"}:${change.after.scoreId}`,
        at,
        data: changeData(type, change),
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
      expires_at: subscription.expiresAt.toISOString(),
    },
    state: "pending",
  });
}

function changesOf({ before, after }: ScoreChange): readonly AlertEvent[] {
  const grade: AlertEvent[] = (before?.grade ?? null) === after.grade ? [] : ["ahs.grade_changed"];
  const isHit = after.sanctioned && before?.sanctioned !== true;
  return isHit ? [...grade, "ahs.sanctions_hit"] : grade;
}

function changeData(type: AlertEvent, change: ScoreChange): object {
  const { before, after, wallet, chainId } = change;
  const scope = { address: checksumAddress(wallet), chain_id: chainId };
  const told = {
    ...scope,
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

type EventParts = {
  readonly type: WebhookType;
  readonly subscription: Pick<LiveSubscription, "id" | "endpointId">;
  readonly dedupeKey: string;
  readonly at: Date;
  readonly data: object;
  readonly state: NewEvent["state"];
};

function newEvent({ type, subscription, dedupeKey, at, data, state }: EventParts): NewEvent {
  const { id: subscriptionId, endpointId } = subscription;
  return {
    id: eventId(endpointId, dedupeKey),
    endpointId,
    subscriptionId,
    type,
    dedupeKey,
    body: JSON.stringify({
      type,
      timestamp: at.toISOString(),
      data: { subscription_id: subscriptionId, ...data },
    }),
    state,
    notBefore: at,
    createdAt: at,
  };
}

/** The webhook-id: of one event for one endpoint always the same, and without a dot, as Standard Webhooks asks. */
export function eventId(endpointId: string, dedupeKey: string): string {
  return `msg_${hash("sha256", `${endpointId} ${dedupeKey}`, "hex").slice(0, 32)}`;
}
