import { z } from "@hono/zod-openapi";
import { Problem } from "../../access/problems.ts";
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
import { givenDeliveryId } from "../schemas/deliveries.ts";

const replayParams = subscriptionParams.extend({
  delivery_id: givenDeliveryId,
});

/** POST /alerts/{subscription_id}/deliveries/{delivery_id}/replay. */
export const postAlertReplay = defineFree<ActingNeeds>()({
  method: "post",
  path: "/alerts/{subscription_id}/deliveries/{delivery_id}/replay",
  operationId: "replay_delivery",
  tag: "Alerts",
  summary: "Deliver an event again",
  description: `Queues an event again, in any state, with the same webhook-id and body and all attempts anew; one that waits already goes on waiting, and one that was tried within the last minute is 429. An endpoint that was given up is delivered to again from then on. ${WHO_MANAGES}`,
  request: { params: replayParams, query: z.object({}), body: null },
  answer: { schema: queuedSchema, description: "The event, waiting again" },
  identity: "subscription",
  headers: ACT_ONCE.headers,
  problems: ACT_PROBLEMS,
  respond(context, { params: { subscription_id, delivery_id } }, work) {
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
        return { answer, stored: answer };
      },
    });
  },
});
