import { z } from "@hono/zod-openapi";
import { ownerOf, ownerText } from "../../access/access.ts";
import { ALERT_EVENTS } from "../../alerts/plan-events.ts";
import { SUBSCRIPTION_DAYS } from "../../alerts/subscriptions.ts";

import { definePaid } from "../kit/endpoint.ts";
import type { WalletNeeds } from "../kit/wallet-report.ts";
import { requireFollowed } from "../kit/wallet-report.ts";
import type { SubscribeNeeds, UrlNeeds } from "../schemas/alert-subscription.ts";
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

/** Services of the endpoint. */
type Needs = WalletNeeds & UrlNeeds & SubscribeNeeds;

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
export const getAlertsSubscribe = definePaid<Needs>()({
  method: "get",
  path: "/alerts/subscribe/{address}",
  operationId: "subscribe_alerts",
  tool: "Buys 30 days of notifications about a wallet, sent to a webhook URL when its grade changes, a value falls below a threshold, or the wallet is sanctioned. Returns the subscription with its secret, which is shown once. Buying again for the same wallet and URL adds 30 days.",
  price: { units: 2000 },
  tag: "Alerts",
  summary: "30 days of monitoring of a wallet by webhook",
  description: `Sends signed webhooks to a URL within seconds of a score that changes the wallet's grade or confidence level, puts it on a sanctions list, or moves a value below a threshold of the query.

- **Thresholds** fire on changes only. A value that is already below when you set its threshold sends no event; \`thresholds\` in the answer and in each \`subscription.test\` shows it. After it was at or above the threshold, or unknown, the next drop sends an event. New thresholds replace all earlier ones and add \`ahs.threshold_breached\` if \`events\` is omitted. Without thresholds a subscription keeps those that it has.
- **First delivery**: \`subscription.test\`. Other events follow after a 2xx answer.
- **Renewal**: paying again for the same wallet and URL adds ${SUBSCRIPTION_DAYS} days. \`subscription.expiring\` is sent three days and one day before the end.
- **Delivery** is at least once, with the same \`webhook-id\` in all attempts, which continue for over a day, even past the end of the subscription. An endpoint that answers none of them, or answers 410, gets no more events until its owner requests a test. Missed events are listed and can be replayed.
- The subscription belongs to the key or wallet that paid.`,
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
  interestIn: ({ address }) => [address],
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
    return { ...renderSubscription(subscription, now), secret, manage_token: manageToken };
  },
  withoutSecrets: (answer) => ({ ...answer, secret: null, manage_token: null }),
});
