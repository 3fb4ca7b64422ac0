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

/** GET /alerts/{subscription_id}. */
export const getAlert = defineFree<SubscriptionNeeds>()({
  method: "get",
  path: "/alerts/{subscription_id}",
  operationId: "get_subscription",
  tag: "Alerts",
  summary: "A subscription",
  description: `Its events, its end and whether its endpoint answers. ${WHO_MANAGES}`,
  request: { params: subscriptionParams, query: z.object({}), body: null },
  answer: { schema: subscriptionSchema, description: "The subscription" },
  identity: "subscription",
  problems: MANAGE_PROBLEMS,
  async respond(context, { params }, { deps, now }) {
    const { subscription } = await requireSubscription(context, params.subscription_id, deps);
    return answerJson(context, renderSubscription(subscription, now), NO_STORE);
  },
});
