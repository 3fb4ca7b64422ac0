import { type RouteConfig, z } from "@hono/zod-openapi";
import { WEBHOOK_EVENTS } from "./alerts/alerts-events.ts";

const headersSchema = z.object({
  "webhook-id": z
    .string()
    .openapi({ description: "The same at every attempt: a delivery may come twice, an event only once" }),
  "webhook-timestamp": z.string().openapi({ description: "Unix seconds of the attempt" }),
  "webhook-signature": z.string().openapi({
    description: "Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body",
  }),
});

/** What subscribers are sent, as the webhooks of an OpenAPI document; `path` is the event's type. */
export function describeWebhooks(): readonly RouteConfig[] {
  return Object.entries(WEBHOOK_EVENTS).map(([type, { summary, schema, example }]) => ({
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
