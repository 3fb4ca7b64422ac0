import { z } from "@hono/zod-openapi";
import type { Delivery, DeliveryPage } from "../../alerts/webhook-log.ts";
import { fieldsOf, int, isoSchema, text } from "./values.ts";

const PAGE = 50;
const LONGEST_PAGE = 100;

/** The id of an event, which is the webhook-id of its deliveries. */
export const deliveryIdSchema = z.string().openapi({ example: "msg_5f2d8a41c7e9b03d6a18f4c2e7b95d10" });

/** The same in a request. */
export const givenDeliveryId = z
  .string()
  .regex(/^msg_[0-9a-f]{32}$/)
  .openapi({ example: "msg_5f2d8a41c7e9b03d6a18f4c2e7b95d10" });

const attemptSchema = z.object({
  at: isoSchema,
  status: int("What the endpoint answered; null where it did not", 503).nullable(),
  latency_ms: z.int().openapi({ example: 41 }),
  failure: z.string().nullable().openapi({ example: "The endpoint answered 503." }),
});

const deliverySchema = z
  .object({
    id: deliveryIdSchema.openapi({ description: "The webhook-id of every attempt" }),
    type: z.string().openapi({ example: "subscription.test" }),
    state: z.enum(["pending", "delivered", "failed", "dropped"]).openapi({
      description:
        "failed: given up after the last attempt, or answered 410. dropped: its endpoint or subscription ended first. Both can be replayed",
    }),
    created_at: isoSchema,
    delivered_at: isoSchema.nullable(),
    next_attempt_at: isoSchema.nullable(),
    payload: z.record(z.string(), z.unknown()).openapi({
      description: "What is sent",
      example: { type: "subscription.test", timestamp: "2026-11-20T09:58:00.000Z", data: {} },
    }),
    attempts: z.array(attemptSchema),
  })
  .openapi("Delivery");

/** A page of deliveries, of alerts or verdicts. */
export const deliveriesShape = {
  deliveries: z.array(deliverySchema),
  next_cursor: text("Null on the last page").nullable().openapi({ example: null }),
} as const;

/** The query parameter that limits a page. */
export const limitSchema = z
  .string()
  .regex(/^[0-9]{1,4}$/)
  .transform(Number)
  .pipe(z.int().min(1).max(LONGEST_PAGE))
  .default(PAGE)
  .openapi({
    type: "integer",
    minimum: 1,
    maximum: LONGEST_PAGE,
    default: PAGE,
    description: "Maximum number of entries on the page",
  });

/** Query parameters of a page. */
export const pageQuery = z.object({
  limit: limitSchema,
  cursor: givenDeliveryId.optional().openapi({ description: "`next_cursor` of the page before" }),
});

/** The page of a query; `read` returns the newest first. */
export async function pageOfDeliveries(
  { limit, cursor }: z.infer<typeof pageQuery>,
  read: (page: DeliveryPage) => Promise<readonly Delivery[]>,
): Promise<z.infer<z.ZodObject<typeof deliveriesShape>>> {
  const found = await read({ limit: limit + 1, after: cursor ?? null });
  const page = found.slice(0, limit);
  return {
    deliveries: page.map(renderDelivery),
    next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

function renderDelivery(delivery: Delivery): z.infer<typeof deliverySchema> {
  return {
    ...fieldsOf(deliverySchema.shape, delivery),
    payload: JSON.parse(delivery.body) as Record<string, unknown>,
    attempts: delivery.attempts.map((attempt) => fieldsOf(attemptSchema.shape, attempt)),
  };
}
