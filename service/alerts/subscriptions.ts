import { hash } from "node:crypto";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { keepDebit } from "../access/key-debits.ts";
import type { Database } from "../db/database.ts";
import type { AlertThresholds } from "../db/tables/alerts.ts";
import {
  enableEndpoint,
  endSubscription,
  extendSubscription,
  insertSubscription,
  lockEndpoint,
  readSubscription,
  rotateSecret,
  type StoredSubscription,
  type SubscriptionPlace,
  setManageToken,
  takeSubscriptions,
} from "./alert-subscriptions.ts";
import { ALERT_EVENTS, type AlertEvent, EXPIRING_EVENT, THRESHOLD_EVENT, testEvent } from "./plan-events.ts";
import {
  dropPendingEvents,
  dropPendingOfType,
  insertEvents,
  readEventStanding,
  requeueEvent,
} from "./webhook-events.ts";

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

export type Rotated = {
  readonly secret: string;
  readonly previousValidUntil: Date;
  /** The secret before the previous one signed as well, and does so no more. */
  readonly olderSecretEnded: boolean;
  /** Null where it stays as it is. */
  readonly manageToken: string | null;
};

export type SubscriptionDeps = {
  readonly db: Database;
  readonly chainId: number;
  readonly now: () => Date;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly randomUuid: () => string;
};

/** How long the secret before a rotation signs as well. */
const OVERLAP_MS = 86_400_000;
/** Between two deliveries of one event that are asked for: nobody hammers an endpoint through us. */
export const PAUSE_MS = 60_000;
const SECRET_BYTES = 32;

/** Ends a subscription and drops what was still to be delivered; ending it again changes nothing. */
export async function end(deps: SubscriptionDeps, id: string): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await endSubscription(tx, id, deps.now());
    await dropPendingEvents(tx, id);
  });
}

/** What came of asking for a delivery: it waits now; it waited already; it was tried less than a minute ago; there is none such. */
export type Replay = "queued" | "pending" | "recent" | "unknown";

/**
 * Queues a test event, within a minute the same one again, and delivers to the endpoint again if it was given up; answers the
 * event's id.
 */
export async function requestTest(
  deps: SubscriptionDeps,
  subscription: StoredSubscription,
): Promise<{ readonly id: string; readonly outcome: Replay }> {
  const at = deps.now();
  const event = testEvent(subscription, { at, ask: String(Math.floor(at.getTime() / PAUSE_MS)) });
  const outcome = await deps.db.transaction(async (tx) => {
    // Every writer takes an endpoint before its events: two of them never wait for each other crosswise.
    await lockEndpoint(tx, subscription.endpointId);
    await insertEvents(tx, [event]);
    return queueAgain(tx, subscription, { id: event.id, subscriptionId: subscription.id, at });
  });
  return { id: event.id, outcome };
}

/**
 * Queues an event of a subscription again, with its id and body, and delivers to the endpoint again if it was given up; changes
 * nothing within a minute of its last attempt.
 */
export async function replay(
  deps: SubscriptionDeps,
  subscription: StoredSubscription,
  deliveryId: string,
): Promise<Replay> {
  return deps.db.transaction(async (tx) => {
    await lockEndpoint(tx, subscription.endpointId);
    return queueAgain(tx, subscription, {
      id: deliveryId,
      subscriptionId: subscription.id,
      at: deps.now(),
    });
  });
}

async function queueAgain(
  tx: NodePgDatabase,
  { endpointId }: StoredSubscription,
  of: { readonly id: string; readonly subscriptionId: string; readonly at: Date },
): Promise<Replay> {
  const standing = await readEventStanding(tx, of);
  if (standing === null) return "unknown";
  const { state, triedAt } = standing;
  const isRecent = triedAt !== null && of.at.getTime() - triedAt.getTime() < PAUSE_MS;
  if (state !== "pending" && isRecent) return "recent";
  await enableEndpoint(tx, endpointId);
  return (await requeueEvent(tx, of)) ? "queued" : "pending";
}

/**
 * Gives a subscription a new secret, and a new manage token if asked to; the one that it had signs as well for 24 hours, or until
 * the next rotation.
 */
export async function rotate(
  deps: SubscriptionDeps,
  { id, endpointId }: StoredSubscription,
  tokens: "keep-token" | "new-token",
): Promise<Rotated> {
  const secret = newSecret(deps);
  const at = deps.now();
  const previousUntil = new Date(at.getTime() + OVERLAP_MS);
  const manageToken = tokens === "new-token" ? newManageToken(deps) : null;
  const olderSecretEnded = await deps.db.transaction(async (tx) => {
    if (manageToken !== null) await setManageToken(tx, id, hashManageToken(manageToken));
    return rotateSecret(tx, endpointId, { secret, previousUntil, at });
  });
  return { secret, previousValidUntil: previousUntil, olderSecretEnded, manageToken };
}

/** The form in which a manage token is stored: lower-case hex SHA-256. */
export function hashManageToken(token: string): string {
  return hash("sha256", token, "hex");
}

/** whsec_ and base64, as Standard Webhooks 1.0.0 has it. */
function newSecret({ randomBytes }: SubscriptionDeps): string {
  return `whsec_${Buffer.from(randomBytes(SECRET_BYTES)).toString("base64")}`;
}

/** 32 random bytes, which manage one subscription; stored by their hash alone. */
function newManageToken({ randomBytes }: SubscriptionDeps): string {
  return `amt_${Buffer.from(randomBytes(SECRET_BYTES)).toString("base64url")}`;
}
