import { sql } from "drizzle-orm";
import { bigint, index, integer, jsonb, text, timestamp, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { address } from "../columns.ts";
import { ahs } from "./schema.ts";

/** A subscriber's URL with the secret that signs what it gets (Standard Webhooks 1.0.0). */
export const webhookEndpoint = ahs.table("webhook_endpoint", {
  id: uuid().primaryKey(),
  url: text().notNull(),
  /** whsec_ and the base64 of 32 random bytes. */
  secret: text().notNull(),
  /** Signs as well until previousUntil, after a rotation. */
  previousSecret: text(),
  previousUntil: timestamp({ withTimezone: true }),
  /** When it first answered 2xx; null until then. */
  verifiedAt: timestamp({ withTimezone: true }),
  /** Until when it asked to be left alone; null where it never did. */
  heldUntil: timestamp({ withTimezone: true }),
  /** When it was given up, and why; null while it is delivered to. */
  disabledAt: timestamp({ withTimezone: true }),
  disabledReason: text(),
  createdAt: timestamp({ withTimezone: true }).notNull(),
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
    /** Lower-case. */
    wallet: address().notNull(),
    /** Who bought it: key:ID or wallet:ADDRESS. */
    owner: text().notNull(),
    endpointId: uuid()
      .notNull()
      .references(() => webhookEndpoint.id),
    events: text().array().$type<readonly string[]>().notNull(),
    /** The owner is notified of a fall below these values; a value without a threshold is not watched. */
    thresholds: jsonb().$type<AlertThresholds>().notNull().default({}),
    /** SHA-256 of the manage token. */
    manageTokenHash: text().notNull(),
    /** Payments that bought it or its extensions, each of which counts once. */
    purchases: text().array().$type<readonly string[]>().notNull(),
    expiresAt: timestamp({ withTimezone: true }).notNull(),
    /** When its owner ended it; null while it runs. */
    endedAt: timestamp({ withTimezone: true }),
    createdAt: timestamp({ withTimezone: true }).notNull(),
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
    endpointId: uuid()
      .notNull()
      .references(() => webhookEndpoint.id),
    /** Null for events that belong to no subscription. */
    subscriptionId: uuid().references(() => alertSubscription.id),
    type: text().notNull(),
    /** Names the change, so that telling of it twice stores it once. */
    dedupeKey: text().notNull(),
    /** The body as it is signed and sent. */
    body: text().notNull(),
    state: text().$type<WebhookState>().notNull(),
    attempts: integer().notNull().default(0),
    notBefore: timestamp({ withTimezone: true }).notNull(),
    createdAt: timestamp({ withTimezone: true }).notNull(),
    deliveredAt: timestamp({ withTimezone: true }),
  },
  (table) => [
    uniqueIndex("webhook_event_once").on(table.endpointId, table.dedupeKey),
    index("webhook_event_due").on(table.state, table.notBefore),
    index("webhook_event_subscription").on(table.subscriptionId, table.createdAt.desc()),
    // Which endpoints failed what still waits, however much of it.
    index("webhook_event_failing").on(table.endpointId).where(sql`state = 'pending' and attempts > 0`),
  ],
);

/** Every attempt to deliver an event. */
export const webhookAttempt = ahs.table(
  "webhook_attempt",
  {
    id: bigint({ mode: "number" }).generatedAlwaysAsIdentity().primaryKey(),
    eventId: text()
      .notNull()
      .references(() => webhookEvent.id),
    at: timestamp({ withTimezone: true }).notNull(),
    /** What the endpoint answered; null where it did not. */
    status: integer(),
    latencyMs: integer().notNull(),
    /** Why it does not count as delivered; null where it does. */
    failure: text(),
  },
  (table) => [index("webhook_attempt_event").on(table.eventId, table.at)],
);
