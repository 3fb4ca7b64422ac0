import { z } from "@hono/zod-openapi";
import type { Delivery } from "../../store/webhook-log.ts";
import { ACT_ONCE } from "../access/act-once.ts";
import { answerJson } from "../answer.ts";
import { defineFree } from "../endpoint.ts";
import { Problem } from "../problems.ts";
import { isoSchema } from "../scores/ahs-record-schema.ts";
import type { SubscriptionPorts } from "./alerts-ports.ts";
import {
  ACT_PROBLEMS,
  actOnSubscription,
  MANAGE_PROBLEMS,
  QUEUED_EXAMPLE,
  queuedSchema,
  refuseRecent,
  requireSubscription,
  SUBSCRIPTION_EXAMPLE,
  subscriptionParams,
  WHO_MANAGES,
} from "./alerts-subscription.ts";

type Work = { readonly deps: SubscriptionPorts; readonly now: Date };

const NO_STORE = { headers: { "cache-control": "private, no-store" } } as const;
const PAGE = 50;
const LONGEST_PAGE = 100;
const DELIVERY_ID = /^msg_[0-9a-f]{32}$/;
const DELIVERY_EXAMPLE = QUEUED_EXAMPLE.delivery_id;

const deliverySchema = z
  .object({
    id: z.string().openapi({ description: "The webhook-id of every attempt" }),
    type: z.string(),
    state: z.enum(["pending", "delivered", "failed", "dropped"]).openapi({
      description:
        "failed: given up after the last attempt, or answered 410. dropped: its endpoint or subscription ended first. Both can be replayed",
    }),
    created_at: isoSchema,
    delivered_at: isoSchema.nullable(),
    next_attempt_at: isoSchema.nullable(),
    payload: z.record(z.string(), z.unknown()).openapi({ description: "What is sent" }),
    attempts: z.array(
      z.object({
        at: isoSchema,
        status: z
          .int()
          .nullable()
          .openapi({ description: "What the endpoint answered; null where it did not" }),
        latency_ms: z.int(),
        failure: z.string().nullable(),
      }),
    ),
  })
  .openapi("Delivery");

const deliveriesSchema = z
  .object({
    subscription_id: z.uuid(),
    deliveries: z.array(deliverySchema),
    next_cursor: z.string().nullable().openapi({ description: "Null on the last page" }),
  })
  .openapi("Deliveries");

const pageQuery = z.object({
  limit: z
    .string()
    .regex(/^[0-9]{1,4}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(LONGEST_PAGE))
    .default(PAGE)
    .openapi({
      param: { name: "limit", in: "query", required: false },
      type: "integer",
      minimum: 1,
      maximum: LONGEST_PAGE,
      default: PAGE,
    }),
  cursor: z
    .string()
    .regex(DELIVERY_ID)
    .optional()
    .openapi({
      param: { name: "cursor", in: "query" },
      description: "`next_cursor` of the page before",
      example: DELIVERY_EXAMPLE,
    }),
});

/** GET /alerts/{subscription_id}/deliveries. */
export const getAlertDeliveries = defineFree({
  method: "get",
  path: "/alerts/{subscription_id}/deliveries",
  tag: "Alerts",
  summary: "Deliveries of a subscription",
  description: `Every event of the last 30 days, newest first, with each attempt to deliver it. ${WHO_MANAGES}`,
  request: { params: subscriptionParams, query: pageQuery, body: null },
  answer: {
    schema: deliveriesSchema,
    example: {
      subscription_id: SUBSCRIPTION_EXAMPLE.subscription_id,
      deliveries: [
        {
          id: DELIVERY_EXAMPLE,
          type: "subscription.test",
          state: "delivered",
          created_at: "2026-11-20T10:00:00.000Z",
          delivered_at: "2026-11-20T10:00:05.512Z",
          next_attempt_at: null,
          payload: { type: "subscription.test", timestamp: "2026-11-20T10:00:00.000Z", data: {} },
          attempts: [
            {
              at: "2026-11-20T10:00:00.310Z",
              status: 503,
              latency_ms: 41,
              failure: "The endpoint answered 503.",
            },
            { at: "2026-11-20T10:00:05.512Z", status: 204, latency_ms: 38, failure: null },
          ],
        },
      ],
      next_cursor: null,
    },
    description: "A page of deliveries",
  },
  identity: "subscription",
  problems: MANAGE_PROBLEMS,
  async respond(context, { params: { subscription_id }, query }, { deps }: Work) {
    await requireSubscription(context, subscription_id, deps);
    const { limit, cursor } = query;
    const found = await deps.subscriptions.deliveries(subscription_id, {
      limit: limit + 1,
      after: cursor ?? null,
    });
    const page = found.slice(0, limit);
    const body = {
      subscription_id,
      deliveries: page.map(renderDelivery),
      next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
    };
    return answerJson(context, body, NO_STORE);
  },
});

const replayParams = subscriptionParams.extend({
  delivery_id: z
    .string()
    .regex(DELIVERY_ID)
    .openapi({ param: { name: "delivery_id", in: "path" }, example: DELIVERY_EXAMPLE }),
});

/** POST /alerts/{subscription_id}/deliveries/{delivery_id}/replay. */
export const postAlertReplay = defineFree({
  method: "post",
  path: "/alerts/{subscription_id}/deliveries/{delivery_id}/replay",
  tag: "Alerts",
  summary: "Deliver an event again",
  description: `Queues an event again, whatever came of it, with the same webhook-id and body and all attempts anew; one that waits already goes on waiting, and one that was tried within the last minute is 429. An endpoint that was given up is delivered to again from then on. ${WHO_MANAGES}`,
  request: { params: replayParams, query: z.object({}), body: null },
  answer: {
    schema: queuedSchema,
    example: QUEUED_EXAMPLE,
    description: "The event, waiting again",
  },
  identity: "subscription",
  headers: ACT_ONCE.headers,
  problems: ACT_PROBLEMS,
  respond(context, { params: { subscription_id, delivery_id } }, work: Work) {
    return actOnSubscription(context, work, {
      id: subscription_id,
      endpoint: "POST /alerts/{subscription_id}/deliveries/{delivery_id}/replay",
      input: delivery_id,
      async run({ subscription }) {
        const outcome = await work.deps.subscriptions.replay(subscription, delivery_id);
        if (outcome === "unknown")
          throw new Problem("not-found", `Subscription ${subscription_id} has no delivery ${delivery_id}.`);
        refuseRecent(outcome);
        const answer = { subscription_id, delivery_id, state: "pending" };
        return { answer, kept: answer };
      },
    });
  },
});

function renderDelivery(delivery: Delivery): z.infer<typeof deliverySchema> {
  return {
    id: delivery.id,
    type: delivery.type,
    state: delivery.state,
    created_at: delivery.createdAt.toISOString(),
    delivered_at: delivery.deliveredAt?.toISOString() ?? null,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    payload: JSON.parse(delivery.body) as Record<string, unknown>,
    attempts: delivery.attempts.map(({ at, status, latencyMs, failure }) => ({
      at: at.toISOString(),
      status,
      latency_ms: latencyMs,
      failure,
    })),
  };
}
