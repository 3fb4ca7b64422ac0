import { hash } from "node:crypto";
import { type Address, checksumAddress } from "viem";
import type { RoutingAction } from "../model/score/record.ts";
import { DEFAULT_ROUTING, routedScore, routeWallet } from "../model/score/route.ts";
import type {
  ExpiringSubscription,
  LiveSubscription,
  StoredSubscription,
  ToldScore,
} from "./alert-subscriptions.ts";
import { type Breach, breachesOf, standingOfThresholds } from "./thresholds.ts";
import type { NewEvent } from "./webhook-events.ts";

/** Events of a wallet, which a subscription can ask for. */
export const ALERT_EVENTS = [
  "ahs.grade_changed",
  "ahs.threshold_breached",
  "ahs.sanctions_hit",
  "ahs.confidence_changed",
] as const;

export type AlertEvent = (typeof ALERT_EVENTS)[number];

/** What a subscription with thresholds is told of. */
export const THRESHOLD_EVENT = "ahs.threshold_breached" satisfies AlertEvent;

/** The first event of every subscription, and whatever its owner asks for to see that the endpoint answers. */
const TEST_EVENT = "subscription.test";

/** That a subscription runs out; like the test it is of the subscription, and told to all of them. */
export const EXPIRING_EVENT = "subscription.expiring";

export type WebhookType = AlertEvent | typeof TEST_EVENT | typeof EXPIRING_EVENT;

/** What a write of scores made of one wallet's current score. */
type ScoreChange = {
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

/** How many days before its end a subscription is told of it, the nearest first. */
const NOTICE_DAYS = [1, 3] as const;
const DAY_MS = 86_400_000;

/** Of which ends a notice is due, and how its dedupe key is made: of what stands before the end in Unix milliseconds, and after it. */
export type DueNotice = {
  readonly after: Date;
  readonly until: Date;
  readonly key: readonly [string, string];
};

/** The notices that can be due at a moment, the nearest first; of each end one. */
export function dueNotices(at: Date): readonly DueNotice[] {
  const later = (days: number) => new Date(at.getTime() + days * DAY_MS);
  return NOTICE_DAYS.map((days, index) => ({
    after: later(NOTICE_DAYS[index - 1] ?? 0),
    until: later(days),
    key: [`${EXPIRING_EVENT}:`, `:${days}`],
  }));
}

/**
 * The notice that is due of a subscription's end: the nearest alone, however many were missed; null where none is due yet, or it
 * has ended. For one end each notice has one id, and for another end another.
 */
export function planExpiry(subscription: ExpiringSubscription, at: Date): NewEvent | null {
  const { expiresAt } = subscription;
  const leftMs = expiresAt.getTime() - at.getTime();
  const days = NOTICE_DAYS.find((notice) => leftMs <= notice * DAY_MS);
  if (leftMs <= 0 || days === undefined) return null;
  return newEvent({
    type: EXPIRING_EVENT,
    subscription,
    dedupeKey: `${EXPIRING_EVENT}:${expiresAt.getTime()}:${days}`,
    at,
    data: {
      address: checksumAddress(subscription.wallet),
      chain_id: subscription.chainId,
      events: subscription.events,
      expires_at: expiresAt.toISOString(),
      notice_days: days,
    },
    state: subscription.isDisabled ? "dropped" : "pending",
  });
}

type EventParts = {
  readonly type: WebhookType;
  readonly subscription: Pick<LiveSubscription, "id" | "endpointId">;
  /** Names what happened, to the endpoint. */
  readonly dedupeKey: string;
  readonly at: Date;
  readonly data: object;
  readonly state: NewEvent["state"];
};

/** An event of a subscription as it is stored, signed and sent. */
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
