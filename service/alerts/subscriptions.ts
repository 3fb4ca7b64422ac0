import { hash } from "node:crypto";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { keepDebit } from "../access/key-debits.ts";
import { type Database, underDeadline } from "../db/database.ts";
import type { AlertThresholds } from "../db/tables/alerts.ts";
import {
  enableEndpoint,
  endSubscription,
  extendSubscription,
  insertSubscription,
  listSubscriptions,
  lockEndpoint,
  readSubscription,
  rotateSecret,
  type StoredSubscription,
  type SubscriptionPlace,
  setManageToken,
  takeSubscriptions,
} from "./alert-subscriptions.ts";
import { ALERT_EVENTS, type AlertEvent, EXPIRING_EVENT, THRESHOLD_EVENT, testEvent } from "./plan-events.ts";
import { dropPendingEvents, insertEvents, readEventStatus, requeueEvent } from "./webhook-events.ts";
import { type DeliveryPage, readDeliveries } from "./webhook-log.ts";

export type SubscribeRequest = {
  /** Lower-case. */
  readonly wallet: Address;
  /** Its owner: key:ID or wallet:ADDRESS. */
  readonly owner: string;
  /** Already checked by the request guard. */
  readonly webhookUrl: string;
  /** Null: those of the existing subscription, or all. */
  readonly events: readonly AlertEvent[] | null;
  /** Null: those of the existing subscription, or none. */
  readonly thresholds: AlertThresholds | null;
  /** Identifies the payment or debit, so that it buys the days once. */
  readonly purchase: string | null;
  /** The debit of a key, captured in the transaction that adds the days; null without one. */
  readonly debitId: string | null;
};

/** Result of a purchase; the secrets are set only for a new subscription. */
type Subscribed = {
  readonly subscription: StoredSubscription;
  readonly secret: string | null;
  readonly manageToken: string | null;
};

/** Buys 30 days of monitoring: a new subscription, or more days for the same wallet, owner and URL. */
export type Subscribe = (request: SubscribeRequest) => Promise<Subscribed>;

export const SUBSCRIPTION_DAYS = 30;
const DAY_MS = 86_400_000;

/**
 * Buys monitoring in one transaction with the first event and its debit. Throws and buys nothing if the debit was
 * released. Two concurrent purchases extend it twice.
 */
export function createSubscribe(deps: SubscriptionDeps): Subscribe {
  return (request) => {
    const { wallet, owner, purchase, debitId } = request;
    const place = { chainId: deps.chainId, wallet, owner, url: new URL(request.webhookUrl).href };
    return deps.db.transaction(async (tx) => {
      const known = await takeSubscriptions(tx, place);
      await keepDebit(tx, debitId);
      const paid = known.find(({ purchases }) => purchase !== null && purchases.includes(purchase));
      if (paid !== undefined) return { subscription: paid, secret: null, manageToken: null };
      const running = known.find(({ endedAt }) => endedAt === null);
      const { events, thresholds } = request;
      const order = { deps, events, thresholds, purchases: purchase === null ? [] : [purchase] };
      return running === undefined ? create(tx, { ...order, place }) : extend(tx, { ...order, running });
    });
  };
}

type Order = Pick<SubscribeRequest, "events" | "thresholds"> & {
  deps: SubscriptionDeps;
  purchases: readonly string[];
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
  await dropPendingEvents(tx, { subscriptionId: id, type: EXPIRING_EVENT });
  if (running.disabledAt !== null) await enableEndpoint(tx, endpointId);
  const subscription = await known(tx, { chainId, id });
  if (running.disabledAt !== null)
    await insertEvents(tx, [testEvent(subscription, { at, ask: deps.randomUuid() })]);
  return { subscription, secret: null, manageToken: null };
}

/** The events of a subscription, plus the threshold event if thresholds are given. */
function eventsWith(events: readonly string[], thresholds: AlertThresholds | null): readonly string[] {
  return thresholds === null ? events : [...new Set([...events, THRESHOLD_EVENT])];
}

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

export type Subscriptions = ReturnType<typeof createSubscriptions>;

/** Subscriptions as endpoints list, manage and end them. */
export function createSubscriptions(
  deps: SubscriptionDeps,
  /** Counts a call by manage token against the subscription's rate; throws a 429. */
  count: (id: string) => Promise<void>,
) {
  const { db, chainId } = deps;
  return {
    count,
    find: (id: string) => readSubscription(db, { chainId, id }),
    /** Of an owner (see `ownerText`), newest first. */
    list: (page: Omit<Parameters<typeof listSubscriptions>[1], "chainId">) =>
      listSubscriptions(underDeadline(db), { chainId, ...page }),
    end: (id: string) => end(deps, id),
    /** Returns the id of the event as well. */
    test: (subscription: StoredSubscription) => requestTest(deps, subscription),
    rotate: (subscription: StoredSubscription, tokens: "keep-token" | "new-token") =>
      rotate(deps, subscription, tokens),
    /** Newest first. */
    deliveries: (id: string, page: DeliveryPage) => readDeliveries(db, id, page),
    replay: (subscription: StoredSubscription, deliveryId: string) => replay(deps, subscription, deliveryId),
  };
}

export type SubscriptionDeps = {
  readonly db: Database;
  readonly chainId: number;
  readonly now: () => Date;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly randomUuid: () => string;
};

const OVERLAP_MS = 86_400_000;
/** Shortest interval between requested deliveries of one event, so that callers cannot flood an endpoint through us. */
export const PAUSE_MS = 60_000;
const SECRET_BYTES = 32;

/** Ends a subscription and drops its pending events; ending it again changes nothing. */
export async function end(deps: SubscriptionDeps, id: string): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await endSubscription(tx, id, deps.now());
    await dropPendingEvents(tx, { subscriptionId: id });
  });
}

/** Result of a requested delivery: queued now, already pending, tried less than a minute ago, or no such event. */
export type Replay = "queued" | "pending" | "recent" | "unknown";

export async function requestTest(
  deps: SubscriptionDeps,
  subscription: StoredSubscription,
): Promise<{ readonly id: string; readonly outcome: Replay }> {
  const at = deps.now();
  const event = testEvent(subscription, { at, ask: String(Math.floor(at.getTime() / PAUSE_MS)) });
  const outcome = await deps.db.transaction(async (tx) => {
    // Every writer locks an endpoint before its events, which prevents deadlocks.
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
    const of = { id: deliveryId, subscriptionId: subscription.id, at: deps.now() };
    return queueAgain(tx, subscription, of);
  });
}

async function queueAgain(
  tx: NodePgDatabase,
  { endpointId }: StoredSubscription,
  of: { id: string; subscriptionId: string; at: Date },
): Promise<Replay> {
  const status = await readEventStatus(tx, of);
  if (status === null) return "unknown";
  const { state, triedAt } = status;
  const isRecent = triedAt !== null && of.at.getTime() - triedAt.getTime() < PAUSE_MS;
  if (state !== "pending" && isRecent) return "recent";
  await enableEndpoint(tx, endpointId);
  return (await requeueEvent(tx, of)) ? "queued" : "pending";
}

/**
 * Replaces a subscription's secret, and on request its manage token. The old secret stays valid for 24 hours or until
 * the next rotation.
 */
export async function rotate(
  deps: SubscriptionDeps,
  { id, endpointId }: StoredSubscription,
  tokens: "keep-token" | "new-token",
) {
  const secret = newSecret(deps);
  const at = deps.now();
  const previousUntil = new Date(at.getTime() + OVERLAP_MS);
  const manageToken = tokens === "new-token" ? newManageToken(deps) : null;
  // A third, older secret may still have been valid.
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

/** 32 random bytes that manage one subscription; only their hash is stored. */
function newManageToken({ randomBytes }: SubscriptionDeps): string {
  return `amt_${Buffer.from(randomBytes(SECRET_BYTES)).toString("base64url")}`;
}
