import { hash } from "node:crypto";
import type { WebhookType } from "./alert-events.ts";
import type { LiveSubscription } from "./live-subscriptions.ts";
import type { NewEvent } from "./webhook-events.ts";

type EventParts = {
  readonly type: WebhookType;
  readonly subscription: Pick<LiveSubscription, "id" | "endpointId">;
  /** Names what happened, to the endpoint. */
  readonly dedupeKey: string;
  readonly at: Date;
  readonly data: object;
  readonly state: NewEvent["state"];
};

/** An event of a subscription as it is stored, signed and sent. */
export function newEvent({ type, subscription, dedupeKey, at, data, state }: EventParts): NewEvent {
  const { id: subscriptionId, endpointId } = subscription;
  return {
    id: eventId(endpointId, dedupeKey),
    endpointId,
    subscriptionId,
    type,
    dedupeKey,
    body: JSON.stringify({
      type,
      timestamp: at.toISOString(),
      data: { subscription_id: subscriptionId, ...data },
    }),
    state,
    notBefore: at,
    createdAt: at,
  };
}

/** The webhook-id: of one event for one endpoint always the same, and without a dot, as Standard Webhooks asks. */
export function eventId(endpointId: string, dedupeKey: string): string {
  return `msg_${hash("sha256", `${endpointId} ${dedupeKey}`, "hex").slice(0, 32)}`;
}
