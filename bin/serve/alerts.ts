import { randomBytes, randomUUID } from "node:crypto";
import type { CallLimiter } from "../../service/access/rate-limits.ts";
import { hasThresholds, readSubscription } from "../../service/alerts/alert-subscriptions.ts";
import {
  createSubscribe,
  end,
  replay,
  requestTest,
  rotate,
  type SubscriptionDeps,
} from "../../service/alerts/subscriptions.ts";
import { readDeliveries } from "../../service/alerts/webhook-log.ts";
import type { SubscribePorts, SubscriptionPorts } from "../../service/api/schemas/alert-subscription.ts";

/** Calls by one manage token. */
const TOKEN_RATE_PER_MINUTE = 60;

/** What sells and manages monitoring. */
export function alertPorts(
  chain: Pick<SubscriptionDeps, "db" | "chainId" | "now">,
  limiter: CallLimiter,
): Pick<SubscribePorts, "subscribe" | "hasThresholds"> & Pick<SubscriptionPorts, "subscriptions"> {
  const deps = { ...chain, randomBytes, randomUuid: randomUUID };
  const { db, chainId } = chain;
  return {
    subscribe: createSubscribe(deps),
    hasThresholds: ({ webhookUrl, ...place }) =>
      hasThresholds(db, { ...place, chainId, url: new URL(webhookUrl).href }),
    subscriptions: {
      async count(id) {
        await limiter.take({ kind: "subscription", id }, TOKEN_RATE_PER_MINUTE);
      },
      find: (id) => readSubscription(db, { chainId, id }),
      end: (id) => end(deps, id),
      test: (subscription) => requestTest(deps, subscription),
      rotate: (subscription, tokens) => rotate(deps, subscription, tokens),
      deliveries: (id, page) => readDeliveries(db, id, page),
      replay: (subscription, deliveryId) => replay(deps, subscription, deliveryId),
    },
  };
}
