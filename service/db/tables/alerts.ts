import { sql } from "drizzle-orm";
import { index, integer, jsonb, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { address, idOf, moment, rowId } from "../columns.ts";
import { ahs } from "./schema.ts";

/** A subscriber's URL with the secret that signs what it gets (Standard Webhooks 1.0.0). */
export const webhookEndpoint = ahs.table("webhook_endpoint", {
  id: uuid().primaryKey(),
  url: text().notNull(),
  /** whsec_ and the base64 of 32 random bytes. */
  secret: text().notNull(),
  /** Signs as well until previousUntil, after a rotation. */
  previousSecret: text(),
  previousUntil: moment(),
  /** When it first answered 2xx; null until then. */
  verifiedAt: moment(),
  /** Until when it asked to be left alone; null where it never did. */
  heldUntil: moment(),
  /** End of the lease of the worker that delivers to it; null while none does. */
  deliveringUntil: moment(),
  /** When it was given up, and why; null while it is delivered to. */
  disabledAt: moment(),
  disabledReason: text(),
  createdAt: moment().notNull(),
});

/** Scores 0 to 100 and the confidence in millionths, each by its own name. */
export type AlertThresholds = {
  readonly ahsScore?: number;
  readonly d1Score?: number;
  readonly d2Score?: number;
  readonly confidenceMicros?: number;
};

/** Paid monitoring of one wallet. */
export const alertSubscription = ahs.table(
  "alert_subscription",
  {
    id: uuid().primaryKey(),
    chainId: integer().notNull(),
    wallet: address().notNull(),
    /** Who bought it: key:ID or wallet:ADDRESS. */
    owner: text().notNull(),
    endpointId: idOf(() => webhookEndpoint.id).notNull(),
    events: text().array().$type<readonly string[]>().notNull(),
    /** The owner is notified of a fall below these values; a value without a threshold is not watched. */
    thresholds: jsonb().$type<AlertThresholds>().notNull().default({}),
    /** SHA-256 of the manage token. */
    manageTokenHash: text().notNull(),
    /** Payments that bought it or its extensions, each of which counts once. */
    purchases: text().array().$type<readonly string[]>().notNull(),
    expiresAt: moment().notNull(),
    /** When its owner ended it; null while it runs. */
    endedAt: moment(),
    createdAt: moment().notNull(),
  },
  (table) => [
    index("alert_subscription_wallet").on(table.chainId, table.wallet, table.expiresAt),
    index("alert_subscription_owner").on(table.owner, table.wallet),
    // Whose end is near.
    index("alert_subscription_expiry").on(table.expiresAt).where(sql`ended_at is null`),
  ],
);

/** pending: to be delivered at notBefore. delivered: answered 2xx. failed: given up. dropped: its endpoint or subscription ended first. */
export type WebhookState = "pending" | "delivered" | "failed" | "dropped";

/** One event for one endpoint: written in the transaction that made it true, delivered at least once. */
export const webhookEvent = ahs.table(
  "webhook_event",
  {
    /** The webhook-id of every attempt. */
    id: text().primaryKey(),
    endpointId: idOf(() => webhookEndpoint.id).notNull(),
    /** Null for events that belong to no subscription. */
    subscriptionId: idOf(() => alertSubscription.id),
    type: text().notNull(),
    /** Names the change, so that telling of it twice stores it once. */
    dedupeKey: text().notNull(),
    body: text().notNull(),
    state: text().$type<WebhookState>().notNull(),
    attempts: integer().notNull().default(0),
    notBefore: moment().notNull(),
    createdAt: moment().notNull(),
    deliveredAt: moment(),
  },
  (table) => [
    uniqueIndex("webhook_event_once").on(table.endpointId, table.dedupeKey),
    index("webhook_event_due").on(table.state, table.notBefore),
    // The oldest that an endpoint waits for, however many it had.
    index("webhook_event_next").on(table.endpointId, table.notBefore).where(sql`state = 'pending'`),
    index("webhook_event_subscription").on(table.subscriptionId, table.createdAt.desc()),
    // Which endpoints failed what still waits, however much of it.
    index("webhook_event_failing").on(table.endpointId).where(sql`state = 'pending' and attempts > 0`),
  ],
);

/** Every attempt to deliver an event. */
export const webhookAttempt = ahs.table(
  "webhook_attempt",
  {
    id: rowId(),
    eventId: text()
      .notNull()
      .references(() => webhookEvent.id),
    at: moment().notNull(),
    /** HTTP status of the endpoint's answer; null without one. */
    status: integer(),
    latencyMs: integer().notNull(),
    /** Why it does not count as delivered; null where it does. */
    failure: text(),
  },
  (table) => [index("webhook_attempt_event").on(table.eventId, table.at)],
);
