import { hash } from "node:crypto";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Database } from "../db/database.ts";
import {
  enableEndpoint,
  endSubscription,
  lockEndpoint,
  rotateSecret,
  type StoredSubscription,
  setManageToken,
} from "./alert-subscriptions.ts";
import { testEvent } from "./plan-events.ts";
import { dropPendingEvents, insertEvents, readEventStanding, requeueEvent } from "./webhook-events.ts";

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
export function newSecret({ randomBytes }: SubscriptionDeps): string {
  return `whsec_${Buffer.from(randomBytes(SECRET_BYTES)).toString("base64")}`;
}

/** 32 random bytes, which manage one subscription; stored by their hash alone. */
export function newManageToken({ randomBytes }: SubscriptionDeps): string {
  return `amt_${Buffer.from(randomBytes(SECRET_BYTES)).toString("base64url")}`;
}
