import { z } from "@hono/zod-openapi";
import { ACT_ONCE } from "../kit/act-once.ts";
import { defineFree } from "../kit/endpoint.ts";
import type { ActingNeeds } from "../schemas/alert-subscription.ts";
import {
  ACT_PROBLEMS,
  actOnSubscription,
  queuedSchema,
  refuseRecent,
  subscriptionParams,
  WHO_MANAGES,
} from "../schemas/alert-subscription.ts";

/** POST /alerts/{subscription_id}/test. */
export const postAlertTest = defineFree<ActingNeeds>()({
  method: "post",
  path: "/alerts/{subscription_id}/test",
  operationId: "test_subscription",
  tag: "Alerts",
  summary: "Send a test event",
  description: `Queues a \`subscription.test\` for delivery at once; those asked for within a minute are one: the same while it waits, and 429 once it was tried. An endpoint that was given up is delivered to again from then on. ${WHO_MANAGES}`,
  request: { params: subscriptionParams, query: z.object({}), body: null },
  answer: { schema: queuedSchema, description: "The queued event" },
  identity: "subscription",
  headers: ACT_ONCE.headers,
  problems: ACT_PROBLEMS,
  respond(context, { params: { subscription_id } }, work) {
    return actOnSubscription(context, work, {
      id: subscription_id,
      endpoint: "POST /alerts/{subscription_id}/test",
      async run({ subscription }) {
        const { id, outcome } = await work.deps.subscriptions.test(subscription);
        refuseRecent(outcome);
        const answer = { subscription_id, delivery_id: id, state: "pending" };
        return { answer, stored: answer };
      },
    });
  },
});
