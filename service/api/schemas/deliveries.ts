import { z } from "@hono/zod-openapi";
import type { Delivery, DeliveryPage } from "../../alerts/webhook-log.ts";
import { isoSchema } from "./values.ts";

const PAGE = 50;
const LONGEST_PAGE = 100;

/** The id of an event, which is the webhook-id of its deliveries. */
export const DELIVERY_ID = /^msg_[0-9a-f]{32}$/;

const DELIVERY_EXAMPLE = "msg_5f2d8a41c7e9b03d6a18f4c2e7b95d10";

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

/** A page of deliveries, of alerts or verdicts. */
export const deliveriesShape = {
  deliveries: z.array(deliverySchema),
  next_cursor: z.string().nullable().openapi({ description: "Null on the last page" }),
} as const;

type Deliveries = z.infer<z.ZodObject<typeof deliveriesShape>>;

/** Query parameters of a page. */
export const pageQuery = z.object({
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

/** The example of a page. */
export const DELIVERIES_EXAMPLE: Deliveries = {
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
};

/** The page of a query; `read` returns the newest first. */
export async function pageOfDeliveries(
  { limit, cursor }: z.infer<typeof pageQuery>,
  read: (page: DeliveryPage) => Promise<readonly Delivery[]>,
): Promise<Deliveries> {
  const found = await read({ limit: limit + 1, after: cursor ?? null });
  const page = found.slice(0, limit);
  return {
    deliveries: page.map(renderDelivery),
    next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

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
