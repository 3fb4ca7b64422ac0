import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { keepDebit } from "../access/key-debits.ts";
import type { AlertThresholds } from "../db/tables/alerts.ts";
import { ALERT_EVENTS, type AlertEvent, EXPIRING_EVENT, THRESHOLD_EVENT } from "./alert-events.ts";
import {
  enableEndpoint,
  extendSubscription,
  insertSubscription,
  readSubscription,
  type StoredSubscription,
  type SubscriptionPlace,
  takeSubscriptions,
} from "./alert-subscriptions.ts";
import { testEvent } from "./plan-events.ts";
import { hashManageToken, newManageToken, newSecret, type SubscriptionDeps } from "./subscriptions.ts";
import { dropPendingOfType, insertEvents } from "./webhook-events.ts";

export type SubscribeRequest = {
  /** Lower-case. */
  readonly wallet: Address;
  /** Whose it is: key:ID or wallet:ADDRESS. */
  readonly owner: string;
  /** Found to be no target that the guard refuses. */
  readonly webhookUrl: string;
  /** Null: those that the subscription has already, or all. */
  readonly events: readonly AlertEvent[] | null;
  /** Null: those that the subscription has already, or none. */
  readonly thresholds: AlertThresholds | null;
  /** Names the payment or the debit where there is one, so that the same one buys the same days once. */
  readonly purchase: string | null;
  /** The debit of a key, kept in the transaction that adds the days; null where none was taken. */
  readonly debitId: string | null;
};

/** What a purchase of monitoring bought; the secrets are there only where it made the subscription. */
type Subscribed = {
  readonly subscription: StoredSubscription;
  readonly secret: string | null;
  readonly manageToken: string | null;
};

/** Buys 30 days of monitoring: a new subscription, or more days of the one for the same wallet, owner and URL. */
export type Subscribe = (request: SubscribeRequest) => Promise<Subscribed>;

export const SUBSCRIPTION_DAYS = 30;
const DAY_MS = 86_400_000;

/**
 * Buys monitoring, in one transaction with the first event and the debit that pays for it: throws, and buys nothing, where that
 * debit was returned. Two purchases of the same at once extend it twice.
 */
export function createSubscribe(deps: SubscriptionDeps): Subscribe {
  return (request) => {
    const { wallet, owner, purchase, debitId } = request;
    const place = { chainId: deps.chainId, wallet, owner, url: new URL(request.webhookUrl).href };
    return deps.db.transaction(async (tx) => {
      const known = await takeSubscriptions(tx, place);
      if (debitId !== null && !(await keepDebit(tx, debitId)))
        throw new Error(`debit ${debitId} was returned before it bought anything`);
      const paid = known.find(({ purchases }) => purchase !== null && purchases.includes(purchase));
      if (paid !== undefined) return { subscription: paid, secret: null, manageToken: null };
      const running = known.find(({ endedAt }) => endedAt === null);
      const { events, thresholds } = request;
      const order = { deps, events, thresholds, purchases: purchase === null ? [] : [purchase] };
      return running === undefined ? create(tx, { ...order, place }) : extend(tx, { ...order, running });
    });
  };
}

type Order = {
  readonly deps: SubscriptionDeps;
  readonly events: readonly AlertEvent[] | null;
  readonly thresholds: AlertThresholds | null;
  readonly purchases: readonly string[];
};

async function create(
  tx: NodePgDatabase,
  { deps, place, events, thresholds, purchases }: Order & { readonly place: SubscriptionPlace },
): Promise<Subscribed> {
  const at = deps.now();
  const [id, endpointId] = [deps.randomUuid(), deps.randomUuid()];
  const [secret, manageToken] = [newSecret(deps), newManageToken(deps)];
  await insertSubscription(tx, {
    ...place,
    id,
    endpointId,
    secret,
    events: events ?? ALERT_EVENTS,
    thresholds: thresholds ?? {},
    manageTokenHash: hashManageToken(manageToken),
    purchases,
    createdAt: at,
    expiresAt: daysAfter(at),
  });
  const subscription = await known(tx, { chainId: place.chainId, id });
  await insertEvents(tx, [testEvent(subscription, { at, ask: deps.randomUuid() })]);
  return { subscription, secret, manageToken };
}

async function extend(
  tx: NodePgDatabase,
  { deps, running, events, thresholds, purchases }: Order & { readonly running: StoredSubscription },
): Promise<Subscribed> {
  const { id, chainId, endpointId } = running;
  const at = deps.now();
  await extendSubscription(tx, id, {
    expiresAt: daysAfter(new Date(Math.max(running.expiresAt.getTime(), at.getTime()))),
    events: events ?? eventsWith(running.events, thresholds),
    thresholds: thresholds ?? running.thresholds,
    purchases: [...running.purchases, ...purchases],
  });
  // It says when the subscription was to end, which is no longer true.
  await dropPendingOfType(tx, { subscriptionId: id, type: EXPIRING_EVENT });
  if (running.disabledAt !== null) await enableEndpoint(tx, endpointId);
  const subscription = await known(tx, { chainId, id });
  if (running.disabledAt !== null)
    await insertEvents(tx, [testEvent(subscription, { at, ask: deps.randomUuid() })]);
  return { subscription, secret: null, manageToken: null };
}

/** The events of a subscription, and the one that tells of thresholds where it is given some. */
function eventsWith(events: readonly string[], thresholds: AlertThresholds | null): readonly string[] {
  return thresholds === null ? events : [...new Set([...events, THRESHOLD_EVENT])];
}

/** A subscription that the transaction has just written. */
async function known(
  tx: NodePgDatabase,
  of: { readonly chainId: number; readonly id: string },
): Promise<StoredSubscription> {
  const subscription = await readSubscription(tx, of);
  if (subscription === null)
    throw new Error(`subscription ${of.id} is gone in the transaction that wrote it`);
  return subscription;
}

function daysAfter(date: Date): Date {
  return new Date(date.getTime() + SUBSCRIPTION_DAYS * DAY_MS);
}
