import { hash } from "node:crypto";
import { type Address, checksumAddress } from "viem";
import { MICRO } from "../model/score/fixed-point.ts";
import { defaultAction } from "../model/score/route.ts";
import type {
  AlertScore,
  DueNotice,
  ExpiringSubscription,
  LiveSubscription,
  StoredSubscription,
} from "./alert-subscriptions.ts";
import { type Breach, breachesOf, thresholdsWithValues } from "./thresholds.ts";
import type { NewEvent } from "./webhook-events.ts";

/** Events of a wallet, which a subscription can ask for. */
export const ALERT_EVENTS = [
  "ahs.grade_changed",
  "ahs.threshold_breached",
  "ahs.sanctions_hit",
  "ahs.confidence_changed",
] as const;

export type AlertEvent = (typeof ALERT_EVENTS)[number];

export const THRESHOLD_EVENT = "ahs.threshold_breached" satisfies AlertEvent;

/** First event of every subscription; also sent on request to test the endpoint. */
const TEST_EVENT = "subscription.test";

export const EXPIRING_EVENT = "subscription.expiring";

export type WebhookType = AlertEvent | typeof TEST_EVENT | typeof EXPIRING_EVENT;

/** Change of one wallet's current score by a write. */
type ScoreChange = {
  readonly chainId: number;
  /** Lower-case. */
  readonly wallet: Address;
  /** Null for a wallet without a score. */
  readonly before: AlertScore | null;
  readonly after: AlertScore;
};

/**
 * Returns the events of a score change for one subscription: of grade, confidence level, a new sanctions listing, and
 * one for all thresholds that a value fell below. A wallet never scored counts as no grade and INSUFFICIENT. No change
 * gives no event.
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
      newEvent(subscription, {
        type,
        // Includes the time: after two reorgs the same change can occur again and is a new event.
        dedupeKey: `${type}:${change.before?.scoreId ?? "none"}:${change.after.scoreId}:${at.getTime()}`,
        at,
        data: changeData(type, change, breached),
        state: subscription.isDisabled ? "dropped" : "pending",
      }),
    );
}

/** A test of the endpoint; the same `ask` gives the same event. */
export function testEvent(
  subscription: StoredSubscription,
  { at, ask }: { readonly at: Date; readonly ask: string },
): NewEvent {
  return newEvent(subscription, {
    type: TEST_EVENT,
    dedupeKey: `${TEST_EVENT}:${ask}`,
    at,
    data: {
      address: checksumAddress(subscription.wallet),
      chain_id: subscription.chainId,
      events: subscription.events,
      thresholds: thresholdsWithValues(subscription.thresholds, subscription.watched),
      expires_at: subscription.expiresAt.toISOString(),
    },
    state: "pending",
  });
}

function changesOf({ before, after }: ScoreChange, breached: readonly Breach[]): readonly AlertEvent[] {
  const isRegraded = (before?.grade ?? null) !== after.grade;
  const isHit = after.sanctioned && before?.sanctioned !== true;
  const isSurer = (before?.confidenceLevel ?? "INSUFFICIENT") !== after.confidenceLevel;
  const happened: Readonly<Record<AlertEvent, boolean>> = {
    "ahs.grade_changed": isRegraded,
    "ahs.threshold_breached": breached.length > 0,
    "ahs.sanctions_hit": isHit,
    "ahs.confidence_changed": isSurer,
  };
  return ALERT_EVENTS.filter((type) => happened[type]);
}

function changeData(type: AlertEvent, change: ScoreChange, breached: readonly Breach[]): object {
  const { before, after, wallet, chainId } = change;
  const common = {
    address: checksumAddress(wallet),
    chain_id: chainId,
    previous: describeScore(before),
    current: describeScore(after),
    confidence: after.confidenceMicros / MICRO,
    confidence_level: after.confidenceLevel,
    as_of_block: after.asOfBlock,
    as_of_time: after.asOfTime.toISOString(),
    inputs_hash: after.inputsHash,
  };
  switch (type) {
    case "ahs.grade_changed":
      return common;
    case "ahs.confidence_changed":
      return {
        ...common,
        previous_confidence: before === null ? null : before.confidenceMicros / MICRO,
        previous_confidence_level: before?.confidenceLevel ?? null,
      };
    case "ahs.threshold_breached":
      return { ...common, breached };
    case "ahs.sanctions_hit":
      return { ...common, sanctions_flags: after.sanctionsFlags };
  }
}

/** A score as a payment is routed by it under the default table. */
function describeScore(score: AlertScore | null) {
  const action = defaultAction({ sanctioned: score?.sanctioned === true, score });
  return { grade: score?.grade ?? null, ahs_score: score?.ahsScore ?? null, trust_routing: action };
}

const NOTICE_DAYS = [1, 3] as const;
const DAY_MS = 86_400_000;

/** The notices that can be due at a moment, nearest first; one per end. */
export function dueNotices(at: Date): readonly DueNotice[] {
  const later = (days: number) => new Date(at.getTime() + days * DAY_MS);
  return NOTICE_DAYS.map((days, index) => ({
    after: later(NOTICE_DAYS[index - 1] ?? 0),
    until: later(days),
    key: [`${EXPIRING_EVENT}:`, `:${days}`],
  }));
}

/**
 * Returns the due notice of a subscription's end, only the nearest one; null if none is due or it has ended. The id
 * depends on end and notice.
 */
export function planExpiry(subscription: ExpiringSubscription, at: Date): NewEvent | null {
  const { expiresAt } = subscription;
  const leftMs = expiresAt.getTime() - at.getTime();
  const days = NOTICE_DAYS.find((notice) => leftMs <= notice * DAY_MS);
  if (leftMs <= 0 || days === undefined) return null;
  return newEvent(subscription, {
    type: EXPIRING_EVENT,
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

/** An event of a subscription as it is stored, signed and sent; the dedupe key identifies the change for the endpoint. */
function newEvent(
  subscription: Pick<LiveSubscription, "id" | "endpointId">,
  event: Pick<NewEvent, "dedupeKey" | "state"> & { type: WebhookType; at: Date; data: object },
): NewEvent {
  const { id: subscriptionId, endpointId } = subscription;
  const { type, dedupeKey, state, at } = event;
  const data = { subscription_id: subscriptionId, ...event.data };
  const body = JSON.stringify({ type, timestamp: at.toISOString(), data });
  const id = eventId(endpointId, dedupeKey);
  return { id, endpointId, subscriptionId, type, dedupeKey, body, state, notBefore: at, createdAt: at };
}

/** The webhook-id: the same for one event and endpoint. It has no dot, as Standard Webhooks requires. */
export function eventId(endpointId: string, dedupeKey: string): string {
  return `msg_${hash("sha256", `${endpointId} ${dedupeKey}`, "hex").slice(0, 32)}`;
}
