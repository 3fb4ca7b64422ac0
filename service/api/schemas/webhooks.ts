import { type RouteConfig, z } from "@hono/zod-openapi";
import type { WebhookType } from "../../alerts/plan-events.ts";

import {
  blockSchema,
  chainIdSchema,
  confidenceLevelSchema,
  confidenceSchema,
  nullableGradeSchema,
  nullableScoreSchema,
  routingActionSchema,
  sanctionsFlagSchema,
} from "./ahs-record.ts";
import { breachSchema, eventsSchema, expirySchema, watchedSchema } from "./alert-subscription.ts";
import { eip55Schema, int, isoSchema, text } from "./values.ts";

/** The body of one type of event, for the OpenAPI document. */
export type DescribedEvent = { readonly summary: string; readonly schema: z.ZodType };

const scopeShape = { subscription_id: z.uuid(), address: eip55Schema, chain_id: chainIdSchema } as const;

const scoreStateSchema = z
  .object({
    grade: nullableGradeSchema,
    ahs_score: nullableScoreSchema,
    trust_routing: routingActionSchema.openapi({ description: "By the default table" }),
  })
  .openapi("ScoreState", {
    description: "Grade and score are null without enough history, or without a score",
  });

const changeShape = {
  ...scopeShape,
  previous: scoreStateSchema,
  current: scoreStateSchema.openapi({ example: { grade: "C", ahs_score: 68, trust_routing: "escrow" } }),
  confidence: confidenceSchema,
  confidence_level: confidenceLevelSchema,
  as_of_block: blockSchema,
  as_of_time: isoSchema,
  inputs_hash: text(
    "Of the record that shows the change",
    "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  ),
} as const;

/** The body of an event. */
export function eventSchema(type: string, data: z.ZodObject) {
  return z.object({
    type: z.literal(type),
    timestamp: isoSchema.openapi({ description: "When it happened; the same at every attempt" }),
    data,
  });
}

/** Every delivered event, with the schema and an example of its body. */
export const WEBHOOK_EVENTS: Readonly<Record<WebhookType, DescribedEvent>> = {
  "ahs.grade_changed": {
    summary:
      "The grade of the wallet's current score changed; no grade counts as a grade. If a reorg reverts a score, the change back is sent too.",
    schema: eventSchema("ahs.grade_changed", z.object(changeShape)).openapi("GradeChangedEvent"),
  },
  "ahs.threshold_breached": {
    summary:
      "A change of score took values below thresholds of the subscription, which were at or above them before, or unknown: one event names them all. A value that stays below is not sent again, unless it recovered or became unknown in between.",
    schema: eventSchema(
      "ahs.threshold_breached",
      z.object({ ...changeShape, breached: z.array(breachSchema).min(1) }),
    ).openapi("ThresholdBreachedEvent"),
  },
  "ahs.sanctions_hit": {
    summary: "The wallet is on a sanctions list, and was on none before. Its end shows as a change of grade.",
    schema: eventSchema(
      "ahs.sanctions_hit",
      z.object({ ...changeShape, sanctions_flags: z.array(sanctionsFlagSchema) }),
    ).openapi("SanctionsHitEvent"),
  },
  "ahs.confidence_changed": {
    summary:
      "The level of the confidence changed; a wallet never scored counts as INSUFFICIENT. The level falls over time if a wallet makes no calls: the event follows the next score.",
    schema: eventSchema(
      "ahs.confidence_changed",
      z.object({
        ...changeShape,
        previous_confidence: confidenceSchema.nullable().openapi({ example: 0.59 }),
        previous_confidence_level: confidenceLevelSchema.nullable().openapi({
          description: "Null for a wallet never scored",
          example: "MEDIUM",
        }),
      }),
    ).openapi("ConfidenceChangedEvent"),
  },
  "subscription.test": {
    summary:
      "The first event of every subscription, and whenever its owner asks for it: answer it with a 2xx.",
    schema: eventSchema(
      "subscription.test",
      z.object({
        ...scopeShape,
        events: eventsSchema,
        thresholds: z.array(watchedSchema),
        expires_at: expirySchema,
      }),
    ).openapi("SubscriptionTestEvent"),
  },
  "subscription.expiring": {
    summary:
      "The subscription ends soon. Sent three days and one day before the end, once each, regardless of its events; after an extension, for the new end. Paying again for the same wallet and URL extends it.",
    schema: eventSchema(
      "subscription.expiring",
      z.object({
        ...scopeShape,
        events: eventsSchema,
        expires_at: expirySchema,
        notice_days: int("Which notice it is: of three days before the end, or of one", 3),
      }),
    ).openapi("SubscriptionExpiringEvent"),
  },
};

const headersSchema = z.object({
  "webhook-id": text("The same at every attempt: a delivery may come twice, an event only once"),
  "webhook-timestamp": text("Unix seconds of the attempt"),
  "webhook-signature": text(
    "Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body",
  ),
});

/** Events as the webhooks of an OpenAPI document; `path` is the type of the event. */
export function describeWebhooks(events: Readonly<Record<string, DescribedEvent>>): readonly RouteConfig[] {
  return Object.entries(events).map(([type, { summary, schema }]) => ({
    method: "post",
    path: type,
    operationId: `webhook_${type.replace(/[^a-z]/g, "_")}`,
    tags: ["Webhooks"],
    summary,
    security: [],
    request: {
      headers: headersSchema,
      body: { required: true, content: { "application/json": { schema } } },
    },
    responses: {
      200: { description: "Any 2xx is a delivery; 410 ends all of them; everything else is tried again" },
    },
  }));
}
