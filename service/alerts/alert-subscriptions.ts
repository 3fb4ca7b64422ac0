import { and, desc, eq, gt, isNull, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import type { Database } from "../db/database.ts";
import { type AlertThresholds, alertSubscription, webhookEndpoint } from "../db/tables/alerts.ts";
import type { WatchedValues } from "./alert-scores.ts";

/** Paid monitoring of one wallet, with the endpoint that hears of it. */
export type StoredSubscription = {
  readonly id: string;
  readonly chainId: number;
  /** Lower-case. */
  readonly wallet: Address;
  /** key:ID or wallet:ADDRESS. */
  readonly owner: string;
  readonly endpointId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly thresholds: AlertThresholds;
  /** How the values stand that can have a threshold; null for a wallet without a score. */
  readonly watched: WatchedValues | null;
  readonly manageTokenHash: string;
  readonly purchases: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
  readonly verifiedAt: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledReason: string | null;
};

const COLUMNS = {
  id: alertSubscription.id,
  chainId: alertSubscription.chainId,
  wallet: alertSubscription.wallet,
  owner: alertSubscription.owner,
  endpointId: alertSubscription.endpointId,
  url: webhookEndpoint.url,
  events: alertSubscription.events,
  thresholds: alertSubscription.thresholds,
  watched: sql<WatchedValues | null>`(
    select json_build_object('ahsScore', o.ahs_score, 'd1Score', o.d1_score, 'd2Score', o.d2_score,
      'confidenceMicros', o.confidence_micros)
    from ahs.current_score c join ahs.score o on o.id = c.score_id
    where c.chain_id = ${alertSubscription.chainId} and c.wallet = ${alertSubscription.wallet})`,
  manageTokenHash: alertSubscription.manageTokenHash,
  purchases: alertSubscription.purchases,
  createdAt: alertSubscription.createdAt,
  expiresAt: alertSubscription.expiresAt,
  endedAt: alertSubscription.endedAt,
  verifiedAt: webhookEndpoint.verifiedAt,
  disabledAt: webhookEndpoint.disabledAt,
  disabledReason: webhookEndpoint.disabledReason,
} as const;

function selectFrom(db: NodePgDatabase) {
  return db
    .select(COLUMNS)
    .from(alertSubscription)
    .innerJoin(webhookEndpoint, eq(webhookEndpoint.id, alertSubscription.endpointId));
}

/** One subscription of a chain; null when there is none. */
export async function readSubscription(
  db: NodePgDatabase,
  { chainId, id }: { readonly chainId: number; readonly id: string },
): Promise<StoredSubscription | null> {
  const [row] = await selectFrom(db).where(
    and(eq(alertSubscription.id, id), eq(alertSubscription.chainId, chainId)),
  );
  return row === undefined ? null : subscriptionOf(row);
}

/** Whether an owner's running subscription for one wallet and URL has thresholds; false where there is none. */
export async function hasThresholds(db: NodePgDatabase, place: SubscriptionPlace): Promise<boolean> {
  const rows = await selectFrom(db).where(and(isAt(place), isNull(alertSubscription.endedAt)));
  return rows.some(({ thresholds }) => Object.keys(thresholds).length > 0);
}

/** What makes two purchases be of the same monitoring. */
export type SubscriptionPlace = {
  readonly chainId: number;
  readonly wallet: Address;
  readonly owner: string;
  readonly url: string;
};

/** Subscriptions of one owner for one wallet and URL, newest first; other purchases of the same wait until the transaction ends. */
export async function takeSubscriptions(
  tx: NodePgDatabase,
  place: SubscriptionPlace,
): Promise<readonly StoredSubscription[]> {
  const lock = `ahs-alert:${JSON.stringify([place.chainId, place.wallet, place.owner, place.url])}`;
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`);
  const rows = await selectFrom(tx)
    .where(isAt(place))
    .orderBy(desc(alertSubscription.createdAt))
    .for("update");
  return rows.map(subscriptionOf);
}

function isAt(place: SubscriptionPlace) {
  return and(
    eq(alertSubscription.owner, place.owner),
    eq(alertSubscription.wallet, place.wallet),
    eq(alertSubscription.chainId, place.chainId),
    eq(webhookEndpoint.url, place.url),
  );
}

export type NewSubscription = SubscriptionPlace & {
  readonly id: string;
  readonly endpointId: string;
  readonly secret: string;
  readonly events: readonly string[];
  readonly thresholds: AlertThresholds;
  readonly manageTokenHash: string;
  readonly purchases: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/** Adds a subscription with an endpoint of its own. */
export async function insertSubscription(tx: NodePgDatabase, row: NewSubscription): Promise<void> {
  const { id, endpointId, url, secret, createdAt } = row;
  await tx.insert(webhookEndpoint).values({ id: endpointId, url, secret, createdAt });
  await tx.insert(alertSubscription).values({
    id,
    chainId: row.chainId,
    wallet: row.wallet,
    owner: row.owner,
    endpointId,
    events: [...row.events],
    thresholds: row.thresholds,
    manageTokenHash: row.manageTokenHash,
    purchases: [...row.purchases],
    expiresAt: row.expiresAt,
    createdAt,
  });
}

/** Changes what a purchase changes of a subscription that there is already. */
export async function extendSubscription(
  tx: NodePgDatabase,
  id: string,
  to: Pick<NewSubscription, "expiresAt" | "events" | "thresholds" | "purchases">,
): Promise<void> {
  await tx
    .update(alertSubscription)
    .set({
      expiresAt: to.expiresAt,
      events: [...to.events],
      thresholds: to.thresholds,
      purchases: [...to.purchases],
    })
    .where(eq(alertSubscription.id, id));
}

/** Ends a subscription; one that has ended keeps its time. */
export async function endSubscription(tx: NodePgDatabase, id: string, at: Date): Promise<void> {
  await tx
    .update(alertSubscription)
    .set({ endedAt: at })
    .where(and(eq(alertSubscription.id, id), isNull(alertSubscription.endedAt)));
}

/** Replaces the token by which a subscription is managed. */
export async function setManageToken(tx: NodePgDatabase, id: string, manageTokenHash: string): Promise<void> {
  await tx.update(alertSubscription).set({ manageTokenHash }).where(eq(alertSubscription.id, id));
}

/**
 * Gives an endpoint a new secret; the one that it had signs as well until `previousUntil`. True where another one before it signed
 * as well at that moment, which is forgotten.
 */
export async function rotateSecret(
  tx: NodePgDatabase,
  endpointId: string,
  { secret, previousUntil, at }: { readonly secret: string; readonly previousUntil: Date; readonly at: Date },
): Promise<boolean> {
  await lockEndpoint(tx, endpointId);
  const older = await tx
    .select({ id: webhookEndpoint.id })
    .from(webhookEndpoint)
    .where(and(eq(webhookEndpoint.id, endpointId), gt(webhookEndpoint.previousUntil, at)));
  await tx
    .update(webhookEndpoint)
    .set({ secret, previousSecret: sql`${webhookEndpoint.secret}`, previousUntil })
    .where(eq(webhookEndpoint.id, endpointId));
  return older.length > 0;
}

/** Makes other writers of an endpoint and its events wait until the transaction ends. */
export async function lockEndpoint(tx: NodePgDatabase, endpointId: string): Promise<void> {
  await tx.execute(sql`select 1 from ahs.webhook_endpoint where id = ${endpointId} for no key update`);
}

/** Delivers to an endpoint again that was given up, or that asked to be left alone. */
export async function enableEndpoint(tx: NodePgDatabase, endpointId: string): Promise<void> {
  await tx
    .update(webhookEndpoint)
    .set({ disabledAt: null, disabledReason: null, heldUntil: null })
    .where(eq(webhookEndpoint.id, endpointId));
}

/** Deletes subscriptions that ended or expired before a moment, with their endpoints, once no event of theirs is left. */
export async function sweepSubscriptions(db: Database, before: Date): Promise<number> {
  const { rowCount } = await db.$client.query(
    `with gone as (
       delete from ahs.alert_subscription s
       where least(s.expires_at, coalesce(s.ended_at, s.expires_at)) < $1
         and not exists (select from ahs.webhook_event e where e.subscription_id = s.id)
       returning endpoint_id
     )
     delete from ahs.webhook_endpoint e using gone where e.id = gone.endpoint_id`,
    [before],
  );
  return rowCount ?? 0;
}

type SubscriptionRow = Awaited<ReturnType<ReturnType<typeof selectFrom>["execute"]>>[number];

// Only lower-case addresses are ever stored.
function subscriptionOf(row: SubscriptionRow): StoredSubscription {
  return { ...row, wallet: row.wallet as Address };
}
