import { z } from "@hono/zod-openapi";
import { ownerOf, ownerText } from "../../access/access.ts";
import { ALERT_EVENTS } from "../../alerts/plan-events.ts";
import { SUBSCRIPTION_DAYS } from "../../alerts/subscriptions.ts";

import { definePaid } from "../kit/endpoint.ts";
import { noteInterest, requireFollowed } from "../kit/wallet-report.ts";
import {
  manageTokenSchema,
  purchaseBy,
  refuseUnheard,
  refuseWebhookUrl,
  renderSubscription,
  subscriptionShape,
  thresholdQuery,
  thresholdsOf,
  webhookSecretSchema,
} from "../schemas/alert-subscription.ts";
import { addressParams, splitList } from "../schemas/values.ts";

const MAX_URL_CHARACTERS = 2_048;

const query = z.object({
  webhook_url: z.string().min(1).max(MAX_URL_CHARACTERS).openapi({
    format: "uri",
    description:
      "Where events are POSTed. A URL that leads anywhere but to a public https host is refused, now and at every delivery; redirects are not followed.",
    example: "https://hooks.example.com/agent-health",
  }),
  events: z.preprocess(splitList, z.array(z.enum(ALERT_EVENTS)).optional()).openapi({
    param: { style: "form", explode: false },
    type: "array",
    items: { type: "string", enum: [...ALERT_EVENTS] },
    description:
      "Events to receive. Default: all events; for a running subscription, its current events. `ahs.threshold_breached` needs a threshold.",
  }),
  ...thresholdQuery,
});

const subscribedSchema = z
  .object({
    ...subscriptionShape,
    secret: webhookSecretSchema.openapi({
      description:
        "Signs the deliveries (Standard Webhooks 1.0.0). Shown once, by the call that makes the subscription; null in every later answer: POST /alerts/{subscription_id}/rotate makes a new one",
    }),
    manage_token: manageTokenSchema.openapi({
      description:
        "Manages the subscription as `Authorization: Bearer …`. Shown once, like the secret; if it is lost, rotate with the key or the wallet that paid",
    }),
  })
  .openapi("Subscribed");

/** GET /alerts/subscribe/{address}. */
export const getAlertsSubscribe = definePaid({
  method: "get",
  path: "/alerts/subscribe/{address}",
  operationId: "subscribe_alerts",
  tool: "Buys 30 days of notifications about a wallet, sent to a webhook URL when its grade changes, a value falls below a threshold, or the wallet is sanctioned. Returns the subscription with its secret, which is shown once. Buying again for the same wallet and URL adds 30 days.",
  price: 2000,
  tag: "Alerts",
  summary: "30 days of monitoring of a wallet by webhook",
  description: `Notifies a URL, by signed webhooks, when the wallet's grade or level of confidence changes, when it is put on a sanctions list, and when one of its values falls below a threshold that the query chooses: changes, never states, within seconds of the score that shows them. A value that is below when its threshold is chosen is no event: \`thresholds\` of the answer and of every \`subscription.test\` show its present value; once it has been at or above, or unknown, every fall below is reported. Thresholds that are given replace all that there were, and bring \`ahs.threshold_breached\` with them where \`events\` is left out; without any, a subscription keeps what it has. The first delivery is \`subscription.test\`, which has to be answered with a 2xx before any other follows. Paying again for the same wallet and URL adds ${SUBSCRIPTION_DAYS} days to the same subscription; \`subscription.expiring\` announces its end three days and one day before. An event is delivered at least once, with one \`webhook-id\` over all attempts, which go on for over a day, past the subscription's end too for what happened before it; an endpoint that answers none of them, or answers 410, is given up until its owner asks for a test; what happens meanwhile is listed and can be replayed. The subscription belongs to the key or the wallet that paid.`,
  request: { params: addressParams, query, body: null },
  answer: { schema: subscribedSchema, description: "The subscription" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "names-unavailable"],
  check: ({ params }, { deps, now }) => requireFollowed(params.address, deps, now),
  async prepare({ params, query }, _checked, { deps, caller }): Promise<void> {
    await refuseWebhookUrl(query.webhook_url, deps);
    await refuseUnheard({ events: query.events, thresholds: thresholdsOf(query) }, () =>
      deps.hasThresholds({
        wallet: params.address,
        owner: ownerText(ownerOf(caller)),
        webhookUrl: query.webhook_url,
      }),
    );
  },
  async work(
    { params, query },
    _prepared,
    { deps, now, caller, debitId },
  ): Promise<z.infer<typeof subscribedSchema>> {
    const { subscription, secret, manageToken } = await deps.subscribe({
      ...purchaseBy(caller, debitId),
      wallet: params.address,
      webhookUrl: query.webhook_url,
      events: query.events === undefined ? null : [...new Set(query.events)],
      thresholds: thresholdsOf(query),
    });
    noteInterest(params.address, deps);
    return { ...renderSubscription(subscription, now), secret, manage_token: manageToken };
  },
  withoutSecrets: (answer) => ({ ...answer, secret: null, manage_token: null }),
});
