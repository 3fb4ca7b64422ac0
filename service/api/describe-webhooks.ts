import { type RouteConfig, z } from "@hono/zod-openapi";
import { type DescribedEvent, WEBHOOK_EVENTS } from "./alerts/alerts-events.ts";
import { VERDICT_EVENTS } from "./verification/verdict-events-schema.ts";

const headersSchema = z.object({
  "webhook-id": z
    .string()
    .openapi({ description: "The same at every attempt: a delivery may come twice, an event only once" }),
  "webhook-timestamp": z.string().openapi({ description: "Unix seconds of the attempt" }),
  "webhook-signature": z.string().openapi({
    description: "Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body",
  }),
});

/** What subscribers to a wallet are sent, as the webhooks of an OpenAPI document. */
export function describeAlertWebhooks(): readonly RouteConfig[] {
  return describeWebhooks(WEBHOOK_EVENTS);
}

/** What the `webhook_url` of an output is sent, likewise. */
export function describeVerdictWebhooks(): readonly RouteConfig[] {
  return describeWebhooks(VERDICT_EVENTS);
}

/** `path` is the event's type. */
function describeWebhooks(events: Readonly<Record<string, DescribedEvent>>): readonly RouteConfig[] {
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
