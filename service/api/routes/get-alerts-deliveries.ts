import { z } from "@hono/zod-openapi";
import { answerJson, NO_STORE } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import type { SubscriptionNeeds } from "../schemas/alert-subscription.ts";
import {
  MANAGE_PROBLEMS,
  requireSubscription,
  subscriptionParams,
  WHO_MANAGES,
} from "../schemas/alert-subscription.ts";
import { deliveriesShape, pageOfDeliveries, pageQuery } from "../schemas/deliveries.ts";

/** GET /alerts/{subscription_id}/deliveries. */
export const getAlertDeliveries = defineFree<SubscriptionNeeds>()({
  method: "get",
  path: "/alerts/{subscription_id}/deliveries",
  operationId: "list_deliveries",
  tag: "Alerts",
  summary: "Deliveries of a subscription",
  description: `Every event of the last 30 days, newest first, with each attempt to deliver it. ${WHO_MANAGES}`,
  request: { params: subscriptionParams, query: pageQuery, body: null },
  answer: {
    schema: z.object({ subscription_id: z.uuid(), ...deliveriesShape }).openapi("Deliveries"),
    description: "A page of deliveries",
  },
  identity: "subscription",
  problems: MANAGE_PROBLEMS,
  async respond(context, { params: { subscription_id }, query }, { deps }) {
    await requireSubscription(context, subscription_id, deps);
    const page = await pageOfDeliveries(query, (wanted) =>
      deps.subscriptions.deliveries(subscription_id, wanted),
    );
    const body = { subscription_id, ...page };
    return answerJson(context, body, NO_STORE);
  },
});
