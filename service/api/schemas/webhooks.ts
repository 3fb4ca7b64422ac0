import { type RouteConfig, z } from "@hono/zod-openapi";
import type { WebhookType } from "../../alerts/plan-events.ts";

import {
  confidenceLevelSchema,
  nullableGradeSchema,
  nullableScoreSchema,
  routingActionSchema,
  sanctionsFlagSchema,
} from "./ahs-record.ts";
import { breachSchema, SUBSCRIPTION_EXAMPLE, watchedSchema } from "./alert-subscription.ts";
import { eip55Schema, isoSchema } from "./values.ts";

/** The body of one type of event, for the OpenAPI document. */
export type DescribedEvent = {
  readonly summary: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
};

const scopeShape = { subscription_id: z.uuid(), address: eip55Schema, chain_id: z.int() } as const;

const toldSchema = z
  .object({
    grade: nullableGradeSchema,
    ahs_score: nullableScoreSchema,
    trust_routing: routingActionSchema.openapi({ description: "By the default table" }),
  })
  .openapi("ToldScore", {
    description: "Grade and score are null without enough history, or without a score",
  });

const changeShape = {
  ...scopeShape,
  previous: toldSchema,
  current: toldSchema,
  confidence: z.number().min(0).max(1),
  confidence_level: confidenceLevelSchema,
  as_of_block: z.int(),
  as_of_time: isoSchema,
  inputs_hash: z.string().openapi({ description: "Of the record that shows the change" }),
} as const;

function eventSchema<Type extends WebhookType, Shape extends z.ZodRawShape>(
  type: Type,
  data: z.ZodObject<Shape>,
) {
  return z.object({
    type: z.literal(type),
    timestamp: isoSchema.openapi({ description: "When it happened; the same at every attempt" }),
    data,
  });
}

const CHANGE_EXAMPLE = {
  subscription_id: SUBSCRIPTION_EXAMPLE.subscription_id,
  address: SUBSCRIPTION_EXAMPLE.address,
  chain_id: 31_337,
  previous: { grade: "B", ahs_score: 78, trust_routing: "instant_settle" },
  current: { grade: "C", ahs_score: 71, trust_routing: "escrow" },
  confidence: 0.81,
  confidence_level: "HIGH",
  as_of_block: 970,
  as_of_time: "2026-11-20T09:59:00.000Z",
  inputs_hash: `0x${"22".repeat(32)}`,
} as const;

/** Every delivered event, with the schema and an example of its body. */
export const WEBHOOK_EVENTS: Readonly<Record<WebhookType, DescribedEvent>> = {
  "ahs.grade_changed": {
    summary:
      "The grade of the wallet's current score changed; no grade counts as a grade. If a reorg reverts a score, the change back is sent too.",
    schema: eventSchema("ahs.grade_changed", z.object(changeShape)).openapi("GradeChangedEvent"),
    example: {
      type: "ahs.grade_changed",
      timestamp: "2026-11-20T10:00:02.000Z",
      data: CHANGE_EXAMPLE,
    },
  },
  "ahs.threshold_breached": {
    summary:
      "A change of score took values below thresholds of the subscription, which were at or above them before, or unknown: one event names them all. A value that stays below is not sent again, unless it recovered or became unknown in between.",
    schema: eventSchema(
      "ahs.threshold_breached",
      z.object({ ...changeShape, breached: z.array(breachSchema).min(1) }),
    ).openapi("ThresholdBreachedEvent"),
    example: {
      type: "ahs.threshold_breached",
      timestamp: "2026-11-20T10:00:02.000Z",
      data: {
        ...CHANGE_EXAMPLE,
        current: { grade: "C", ahs_score: 68, trust_routing: "escrow" },
        breached: [{ value: "ahs_score", below: 70, previous: 78, current: 68 }],
      },
    },
  },
  "ahs.sanctions_hit": {
    summary: "The wallet is on a sanctions list, and was on none before. Its end shows as a change of grade.",
    schema: eventSchema(
      "ahs.sanctions_hit",
      z.object({ ...changeShape, sanctions_flags: z.array(sanctionsFlagSchema) }),
    ).openapi("SanctionsHitEvent"),
    example: {
      type: "ahs.sanctions_hit",
      timestamp: "2026-11-20T10:00:02.000Z",
      data: {
        ...CHANGE_EXAMPLE,
        current: { grade: "F", ahs_score: 0, trust_routing: "reject" },
        confidence: 1,
        sanctions_flags: [
          {
            source: "chainalysis-oracle",
            reference: `0x${"33".repeat(32)}`,
            detected_at: "2026-11-20T09:59:58.000Z",
          },
        ],
      },
    },
  },
  "ahs.confidence_changed": {
    summary:
      "The level of the confidence changed; a wallet never scored counts as INSUFFICIENT. The level falls over time if a wallet makes no calls: the event follows the next score.",
    schema: eventSchema(
      "ahs.confidence_changed",
      z.object({
        ...changeShape,
        previous_confidence: z.number().min(0).max(1).nullable(),
        previous_confidence_level: confidenceLevelSchema.nullable().openapi({
          description: "Null for a wallet never scored",
        }),
      }),
    ).openapi("ConfidenceChangedEvent"),
    example: {
      type: "ahs.confidence_changed",
      timestamp: "2026-11-20T10:00:02.000Z",
      data: {
        ...CHANGE_EXAMPLE,
        current: CHANGE_EXAMPLE.previous,
        confidence: 0.59,
        confidence_level: "MEDIUM",
        previous_confidence: 0.81,
        previous_confidence_level: "HIGH",
      },
    },
  },
  "subscription.test": {
    summary:
      "The first event of every subscription, and whenever its owner asks for it: answer it with a 2xx.",
    schema: eventSchema(
      "subscription.test",
      z.object({
        ...scopeShape,
        events: z.array(z.string()),
        thresholds: z.array(watchedSchema),
        expires_at: isoSchema,
      }),
    ).openapi("SubscriptionTestEvent"),
    example: {
      type: "subscription.test",
      timestamp: "2026-11-20T10:00:00.000Z",
      data: {
        subscription_id: SUBSCRIPTION_EXAMPLE.subscription_id,
        address: SUBSCRIPTION_EXAMPLE.address,
        chain_id: 31_337,
        events: SUBSCRIPTION_EXAMPLE.events,
        thresholds: SUBSCRIPTION_EXAMPLE.thresholds,
        expires_at: SUBSCRIPTION_EXAMPLE.expires_at,
      },
    },
  },
  "subscription.expiring": {
    summary:
      "The subscription ends soon. Sent three days and one day before the end, once each, regardless of its events; after an extension, for the new end. Paying again for the same wallet and URL extends it.",
    schema: eventSchema(
      "subscription.expiring",
      z.object({
        ...scopeShape,
        events: z.array(z.string()),
        expires_at: isoSchema,
        notice_days: z
          .int()
          .openapi({ description: "Which notice it is: of three days before the end, or of one" }),
      }),
    ).openapi("SubscriptionExpiringEvent"),
    example: {
      type: "subscription.expiring",
      timestamp: "2026-12-17T10:00:04.000Z",
      data: {
        subscription_id: SUBSCRIPTION_EXAMPLE.subscription_id,
        address: SUBSCRIPTION_EXAMPLE.address,
        chain_id: 31_337,
        events: SUBSCRIPTION_EXAMPLE.events,
        expires_at: SUBSCRIPTION_EXAMPLE.expires_at,
        notice_days: 3,
      },
    },
  },
};

const headersSchema = z.object({
  "webhook-id": z
    .string()
    .openapi({ description: "The same at every attempt: a delivery may come twice, an event only once" }),
  "webhook-timestamp": z.string().openapi({ description: "Unix seconds of the attempt" }),
  "webhook-signature": z.string().openapi({
    description: "Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body",
  }),
});

/** Events as the webhooks of an OpenAPI document; `path` is the type of the event. */
export function describeWebhooks(events: Readonly<Record<string, DescribedEvent>>): readonly RouteConfig[] {
  return Object.entries(events).map(([type, { summary, schema, example }]) => ({
    method: "post",
    path: type,
    operationId: `webhook_${type.replace(/[^a-z]/g, "_")}`,
    tags: ["Webhooks"],
    summary,
    security: [],
    request: {
      headers: headersSchema,
      body: { required: true, content: { "application/json": { schema, example } } },
    },
    responses: {
      200: { description: "Any 2xx is a delivery; 410 ends all of them; everything else is tried again" },
    },
  }));
}
