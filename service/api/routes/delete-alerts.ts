import { z } from "@hono/zod-openapi";
import { answerJson, NO_STORE } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import type { SubscriptionNeeds } from "../schemas/alert-subscription.ts";
import {
  MANAGE_PROBLEMS,
  renderSubscription,
  requireSubscription,
  subscriptionParams,
  subscriptionSchema,
  WHO_MANAGES,
} from "../schemas/alert-subscription.ts";

/** DELETE /alerts/{subscription_id}. */
export const deleteAlert = defineFree<SubscriptionNeeds>()({
  method: "delete",
  path: "/alerts/{subscription_id}",
  operationId: "end_subscription",
  tool: "Ends an alert subscription for good; nothing is refunded and pending notifications are dropped. Use list_subscriptions to find its id.",
  tag: "Alerts",
  summary: "End a subscription",
  description: `Ends it for good; what was still to be delivered is dropped, and nothing is paid back. Ending it again answers the same. ${WHO_MANAGES}`,
  request: { params: subscriptionParams, query: z.object({}), body: null },
  answer: { schema: subscriptionSchema, description: "The subscription, ended" },
  identity: "subscription",
  problems: MANAGE_PROBLEMS,
  async respond(context, { params }, { deps, now }) {
    const { subscription } = await requireSubscription(context, params.subscription_id, deps);
    await deps.subscriptions.end(subscription.id);
    const endedAt = subscription.endedAt ?? now;
    return answerJson(context, renderSubscription({ ...subscription, endedAt }, now), NO_STORE);
  },
});
