import { type OwnerAccess, ownerOf, ownerText, type PayingCaller } from "../../access/access.ts";
import type { RepeatStore } from "../../access/idempotent-answers.ts";
import type { StoredSubscription } from "../../alerts/alert-subscriptions.ts";
import type { Replay, Rotated, Subscribe, SubscribeRequest } from "../../alerts/subscriptions.ts";
import type { Delivery, DeliveryPage } from "../../alerts/webhook-log.ts";
import { refuseUrl } from "../refuse-url.ts";
import type { InfrastructurePorts } from "../scores/infrastructure-part.ts";

/** What sells monitoring. */
export type SubscribePorts = {
  /** Buys 30 days of monitoring, or 30 more of it. */
  readonly subscribe: Subscribe;
  /** Whether an owner's running subscription for a wallet and URL has thresholds. */
  readonly hasThresholds: (
    place: Pick<SubscribeRequest, "wallet" | "owner" | "webhookUrl">,
  ) => Promise<boolean>;
  readonly infrastructure: Pick<InfrastructurePorts["infrastructure"], "refusal">;
};

/** What manages a subscription, for whoever is its owner or has its manage token. */
export type SubscriptionPorts = {
  readonly owners: OwnerAccess;
  readonly repeats: RepeatStore;
  readonly subscriptions: {
    /** Counts a call by manage token against the subscription's rate; throws a 429. */
    count(id: string): Promise<void>;
    find(id: string): Promise<StoredSubscription | null>;
    end(id: string): Promise<void>;
    /** Answers the id of the event as well. */
    test(subscription: StoredSubscription): Promise<{ readonly id: string; readonly outcome: Replay }>;
    rotate(subscription: StoredSubscription, tokens: "keep-token" | "new-token"): Promise<Rotated>;
    /** Newest first. */
    deliveries(id: string, page: DeliveryPage): Promise<readonly Delivery[]>;
    replay(subscription: StoredSubscription, deliveryId: string): Promise<Replay>;
  };
};

/** What a caller's purchase of monitoring names: whose it is, and the payment or the debit, if there is one. */
export function purchaseBy(
  caller: PayingCaller,
  debitId: string | null,
): Pick<SubscribeRequest, "owner" | "purchase" | "debitId"> {
  const purchase = debitId === null ? paymentName(caller) : `debit ${debitId}`;
  return { owner: ownerText(ownerOf(caller)), purchase, debitId };
}

function paymentName(caller: PayingCaller): string | null {
  if (caller.kind !== "payer") return null;
  const { requirements, asset, nonce } = caller.payment;
  return `${requirements.network} ${asset} ${caller.address} ${nonce}`;
}

/** As refuseUrl, for the URL as it will be asked: the parser's spelling may be longer than the guard reads. */
export async function refuseWebhookUrl(url: string, { infrastructure }: SubscribePorts): Promise<void> {
  const asked = URL.canParse(url) ? new URL(url).href : url;
  await refuseUrl({ loc: ["query", "webhook_url"], given: url, asked }, infrastructure.refusal);
}
