import { z } from "@hono/zod-openapi";
import { ownerText } from "../../access/access.ts";
import { answerJson, callerRequest, NO_STORE } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import type { SubscriptionNeeds } from "../schemas/alert-subscription.ts";
import { renderSubscription, subscriptionSchema } from "../schemas/alert-subscription.ts";
import { limitSchema } from "../schemas/deliveries.ts";
import { text } from "../schemas/values.ts";

const query = z.object({
  limit: limitSchema,
  cursor: z.uuid().optional().openapi({ description: "`next_cursor` of the previous page" }),
});

const listSchema = z
  .object({
    subscriptions: z.array(subscriptionSchema),
    next_cursor: text("Null on the last page").nullable().openapi({ example: null }),
  })
  .openapi("Subscriptions");

/** GET /alerts. */
export const listAlerts = defineFree<SubscriptionNeeds>()({
  method: "get",
  path: "/alerts",
  operationId: "list_subscriptions",
  tool: "Lists the alert subscriptions of the caller, newest first, with wallet, URL, events, expiry and status. Use it to find the id of a subscription.",
  tag: "Alerts",
  summary: "List the caller's subscriptions",
  description:
    "Lists the subscriptions that the API key, or the signed-in wallet, has bought, newest first. Expired and ended ones are included until they are deleted; `status` distinguishes them.",
  identity: "owner",
  request: { params: z.object({}), query, body: null },
  answer: { schema: listSchema, description: "A page of subscriptions" },
  problems: ["database-unavailable", "internal"],
  async respond(context, { query: { limit, cursor } }, { deps, now }) {
    const owner = ownerText(await deps.owners.identify(callerRequest(context)));
    const found = await deps.subscriptions.list({ owner, limit: limit + 1, after: cursor ?? null });
    const page = found.slice(0, limit);
    const body = {
      subscriptions: page.map((subscription) => renderSubscription(subscription, now)),
      next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
    };
    return answerJson(context, body, NO_STORE);
  },
});
