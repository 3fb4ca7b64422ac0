import { z } from "@hono/zod-openapi";
import { Problem } from "../../access/problems.ts";
import { ACT_ONCE } from "../act-once.ts";
import { answerJson } from "../answer.ts";
import { defineFree } from "../endpoint.ts";
import type { SubscriptionPorts } from "./alerts-ports.ts";
import {
  ACT_PROBLEMS,
  actOnSubscription,
  MANAGE_PROBLEMS,
  QUEUED_EXAMPLE,
  queuedSchema,
  refuseRecent,
  requireSubscription,
  SUBSCRIPTION_EXAMPLE,
  subscriptionParams,
  WHO_MANAGES,
} from "./alerts-subscription.ts";

import {
  DELIVERIES_EXAMPLE,
  DELIVERY_ID,
  deliveriesShape,
  pageOfDeliveries,
  pageQuery,
} from "./delivery-schema.ts";

type Work = { readonly deps: SubscriptionPorts; readonly now: Date };

const NO_STORE = { headers: { "cache-control": "private, no-store" } } as const;

/** GET /alerts/{subscription_id}/deliveries. */
export const getAlertDeliveries = defineFree({
  method: "get",
  path: "/alerts/{subscription_id}/deliveries",
  tag: "Alerts",
  summary: "Deliveries of a subscription",
  description: `Every event of the last 30 days, newest first, with each attempt to deliver it. ${WHO_MANAGES}`,
  request: { params: subscriptionParams, query: pageQuery, body: null },
  answer: {
    schema: z.object({ subscription_id: z.uuid(), ...deliveriesShape }).openapi("Deliveries"),
    example: {
      subscription_id: SUBSCRIPTION_EXAMPLE.subscription_id,
      ...DELIVERIES_EXAMPLE,
    },
    description: "A page of deliveries",
  },
  identity: "subscription",
  problems: MANAGE_PROBLEMS,
  async respond(context, { params: { subscription_id }, query }, { deps }: Work) {
    await requireSubscription(context, subscription_id, deps);
    const page = await pageOfDeliveries(query, (wanted) =>
      deps.subscriptions.deliveries(subscription_id, wanted),
    );
    const body = { subscription_id, ...page };
    return answerJson(context, body, NO_STORE);
  },
});

const replayParams = subscriptionParams.extend({
  delivery_id: z
    .string()
    .regex(DELIVERY_ID)
    .openapi({ param: { name: "delivery_id", in: "path" }, example: QUEUED_EXAMPLE.delivery_id }),
});

/** POST /alerts/{subscription_id}/deliveries/{delivery_id}/replay. */
export const postAlertReplay = defineFree({
  method: "post",
  path: "/alerts/{subscription_id}/deliveries/{delivery_id}/replay",
  tag: "Alerts",
  summary: "Deliver an event again",
  description: `Queues an event again, whatever came of it, with the same webhook-id and body and all attempts anew; one that waits already goes on waiting, and one that was tried within the last minute is 429. An endpoint that was given up is delivered to again from then on. ${WHO_MANAGES}`,
  request: { params: replayParams, query: z.object({}), body: null },
  answer: {
    schema: queuedSchema,
    example: QUEUED_EXAMPLE,
    description: "The event, waiting again",
  },
  identity: "subscription",
  headers: ACT_ONCE.headers,
  problems: ACT_PROBLEMS,
  respond(context, { params: { subscription_id, delivery_id } }, work: Work) {
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
        return { answer, kept: answer };
      },
    });
  },
});
