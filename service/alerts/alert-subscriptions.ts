import { and, desc, eq, getTableColumns, gt, isNull, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { isOneOf } from "../db/columns.ts";
import type { Database } from "../db/database.ts";
import { lockName } from "../db/session.sql.ts";
import { type AlertThresholds, alertSubscription, webhookEndpoint } from "../db/tables/alerts.ts";
import { currentScore, score } from "../db/tables/score.ts";

function selectFrom(db: NodePgDatabase) {
  const { url, verifiedAt, disabledAt, disabledReason } = webhookEndpoint;
  const watched = sql<WatchedValues | null>`(
    select json_build_object('ahsScore', o.ahs_score, 'd1Score', o.d1_score, 'd2Score', o.d2_score,
      'confidenceMicros', o.confidence_micros)
    from ahs.current_score c join ahs.score o on o.id = c.score_id
    where c.chain_id = ${alertSubscription.chainId} and c.wallet = ${alertSubscription.wallet})`;
  return db
    .select({ ...getTableColumns(alertSubscription), url, verifiedAt, disabledAt, disabledReason, watched })
    .from(alertSubscription)
    .innerJoin(webhookEndpoint, eq(webhookEndpoint.id, alertSubscription.endpointId));
}

/** Paid monitoring of one wallet, with its endpoint. */
export type StoredSubscription = Awaited<ReturnType<typeof selectFrom>>[number];

export async function readSubscription(
  db: NodePgDatabase,
  { chainId, id }: { readonly chainId: number; readonly id: string },
): Promise<StoredSubscription | null> {
  const [row] = await selectFrom(db).where(
    and(eq(alertSubscription.id, id), eq(alertSubscription.chainId, chainId)),
  );
  return row ?? null;
}

/** Subscriptions of an owner, newest first. An unknown `after` gives none; null begins with the newest. */
export async function listSubscriptions(
  db: NodePgDatabase,
  {
    chainId,
    owner,
    limit,
    after,
  }: {
    readonly chainId: number;
    readonly owner: string;
    readonly limit: number;
    readonly after: string | null;
  },
): Promise<readonly StoredSubscription[]> {
  const { id, createdAt } = alertSubscription;
  const isLater =
    after === null
      ? undefined
      : sql`(${createdAt}, ${id}) < (select l.created_at, l.id from ahs.alert_subscription l
              where l.id = ${after} and l.owner = ${owner})`;
  return selectFrom(db)
    .where(and(eq(alertSubscription.owner, owner), eq(alertSubscription.chainId, chainId), isLater))
    .orderBy(desc(createdAt), desc(id))
    .limit(limit);
}

/** Returns whether an owner's active subscription for one wallet and URL has thresholds. */
export async function hasThresholds(db: NodePgDatabase, place: SubscriptionPlace): Promise<boolean> {
  const rows = await selectFrom(db).where(and(isAt(place), isNull(alertSubscription.endedAt)));
  return rows.some(({ thresholds }) => Object.keys(thresholds).length > 0);
}

/** Two purchases with the same place extend the same monitoring. */
export type SubscriptionPlace = {
  readonly chainId: number;
  readonly wallet: Address;
  readonly owner: string;
  readonly url: string;
};

/**
 * Subscriptions of one owner for one wallet and URL, newest first. Other purchases of the same place wait until the
 * transaction ends.
 */
export async function takeSubscriptions(
  tx: NodePgDatabase,
  place: SubscriptionPlace,
): Promise<readonly StoredSubscription[]> {
  const lock = `ahs-alert:${JSON.stringify([place.chainId, place.wallet, place.owner, place.url])}`;
  await lockName(tx, lock);
  return selectFrom(tx).where(isAt(place)).orderBy(desc(alertSubscription.createdAt)).for("update");
}

function isAt(place: SubscriptionPlace) {
  return and(
    eq(alertSubscription.owner, place.owner),
    eq(alertSubscription.wallet, place.wallet),
    eq(alertSubscription.chainId, place.chainId),
    eq(webhookEndpoint.url, place.url),
  );
}

export async function insertSubscription(
  tx: NodePgDatabase,
  row: SubscriptionPlace & Omit<typeof alertSubscription.$inferSelect, "endedAt"> & { secret: string },
): Promise<void> {
  const { url, secret, ...subscription } = row;
  const { endpointId: id, createdAt } = subscription;
  await tx.insert(webhookEndpoint).values({ id, url, secret, createdAt });
  await tx.insert(alertSubscription).values(subscription);
}

export async function extendSubscription(
  tx: NodePgDatabase,
  id: string,
  to: Pick<typeof alertSubscription.$inferSelect, "expiresAt" | "events" | "thresholds" | "purchases">,
): Promise<void> {
  await tx.update(alertSubscription).set(to).where(eq(alertSubscription.id, id));
}

/** Ends a subscription; an ended one keeps its time. */
export async function endSubscription(tx: NodePgDatabase, id: string, at: Date): Promise<void> {
  await tx
    .update(alertSubscription)
    .set({ endedAt: at })
    .where(and(eq(alertSubscription.id, id), isNull(alertSubscription.endedAt)));
}

export async function setManageToken(tx: NodePgDatabase, id: string, manageTokenHash: string): Promise<void> {
  await tx.update(alertSubscription).set({ manageTokenHash }).where(eq(alertSubscription.id, id));
}

/**
 * Replaces an endpoint's secret; the old one remains valid until `previousUntil`. Returns true if an even older secret
 * was still valid, which ends now.
 */
export async function rotateSecret(
  tx: NodePgDatabase,
  endpointId: string,
  { secret, previousUntil, at }: { secret: string; previousUntil: Date; at: Date },
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
  const { id } = webhookEndpoint;
  await tx.select({ id }).from(webhookEndpoint).where(eq(id, endpointId)).for("no key update");
}

/** Enables an endpoint that was given up or asked for a pause. */
export async function enableEndpoint(tx: NodePgDatabase, endpointId: string): Promise<void> {
  await tx
    .update(webhookEndpoint)
    .set({ disabledAt: null, disabledReason: null, heldUntil: null })
    .where(eq(webhookEndpoint.id, endpointId));
}

/** Deletes subscriptions that ended or expired before a moment and have no events, with their endpoints. */
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

export type LiveSubscription = {
  readonly id: string;
  readonly endpointId: string;
  readonly wallet: Address;
  readonly events: readonly string[];
  readonly thresholds: AlertThresholds;
  /** Its endpoint was given up. Events are stored for a replay, not delivered. */
  readonly isDisabled: boolean;
};

/**
 * Active subscriptions for any of these wallets, by wallet. Locks them: concurrent writers of scores of a subscribed
 * wallet take turns, so that each sees the other's current score.
 */
export async function takeLiveSubscriptions(
  tx: NodePgDatabase,
  of: { chainId: number; wallets: readonly string[]; at: Date },
): Promise<readonly LiveSubscription[]> {
  const { rows } = await tx.execute<LiveSubscription>(sql`
    select s.id, s.endpoint_id as "endpointId", s.wallet, s.events, s.thresholds, e.disabled_at is not null as "isDisabled"
    from ahs.alert_subscription s join ahs.webhook_endpoint e on e.id = s.endpoint_id
    where s.chain_id = ${of.chainId} and s.wallet = any(${sql.param(of.wallets)})
      and s.expires_at > ${of.at} and s.ended_at is null
    order by s.wallet, s.id
    for no key update of s`);
  return rows;
}

export type ExpiringSubscription = LiveSubscription & { chainId: number; expiresAt: Date };

/** The ends with a due notice, after one time and until another, and its dedupe key before and after the end in Unix milliseconds. */
export type DueNotice = {
  readonly after: Date;
  readonly until: Date;
  readonly key: readonly [string, string];
};

/**
 * Ids of active subscriptions (all chains) that end after `after` and not after `until`, soonest first, and have no event with the dedupe key
 * `key[0]` + end in Unix milliseconds + `key[1]`.
 */
export async function readNotNotified(
  db: NodePgDatabase,
  { after, until, key, limit, except }: DueNotice & { limit: number; except: readonly string[] },
): Promise<readonly string[]> {
  const endMs = sql`floor(extract(epoch from s.expires_at) * 1000)::bigint`;
  const { rows } = await db.execute<{ readonly id: string }>(sql`
    select s.id from ahs.alert_subscription s
    where s.ended_at is null and s.expires_at > ${after} and s.expires_at <= ${until}
      and s.id <> all(${sql.param(except)}::uuid[])
      and not exists (
        select from ahs.webhook_event w
        where w.endpoint_id = s.endpoint_id and w.dedupe_key = ${key[0]}::text || ${endMs} || ${key[1]}::text)
    order by s.expires_at, s.id limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** Those of the given subscriptions that are active and end in a span. Locks them until the transaction ends. */
export async function takeExpiring(
  tx: NodePgDatabase,
  { after, until, ids }: Omit<DueNotice, "key"> & { ids: readonly string[] },
): Promise<readonly ExpiringSubscription[]> {
  const { rows } = await tx.execute<Omit<ExpiringSubscription, "expiresAt"> & { expiresAt: string }>(sql`
    select s.id, s.endpoint_id as "endpointId", s.wallet, s.events, s.thresholds, e.disabled_at is not null as "isDisabled",
      s.chain_id as "chainId", s.expires_at::text as "expiresAt"
    from ahs.alert_subscription s join ahs.webhook_endpoint e on e.id = s.endpoint_id
    where s.id = any(${sql.param(ids)}::uuid[])
      and s.ended_at is null and s.expires_at > ${after} and s.expires_at <= ${until}
    order by s.wallet, s.id for no key update of s`);
  return rows.map((row) => ({ ...row, expiresAt: new Date(row.expiresAt) }));
}

/** Values of a score that can have a threshold; null if unknown. */
export type WatchedValues = Readonly<Record<keyof AlertThresholds, number | null>>;

/** The part of a score that events contain. Grade and scores are null for a record without enough history. */
const { grade, ahsScore, d1Score, d2Score, confidenceMicros, confidenceLevel } = score;
const { sanctioned, sanctionsFlags, asOfBlock, asOfTime, inputsHash } = score;
const SCORE_PART = {
  grade,
  ahsScore,
  d1Score,
  d2Score,
  confidenceMicros,
  confidenceLevel,
  sanctioned,
  sanctionsFlags,
  asOfBlock,
  asOfTime,
  inputsHash,
};

export type AlertScore = Pick<typeof score.$inferSelect, keyof typeof SCORE_PART> & {
  readonly scoreId: number;
};

/** Current scores by wallet; wallets without a score are missing. */
export async function readAlertScores(
  tx: NodePgDatabase,
  of: { chainId: number; wallets: readonly string[] },
): Promise<ReadonlyMap<string, AlertScore>> {
  const rows = await tx
    .select({ wallet: currentScore.wallet, scoreId: score.id, ...SCORE_PART })
    .from(currentScore)
    .innerJoin(score, eq(score.id, currentScore.scoreId))
    .where(and(eq(currentScore.chainId, of.chainId), isOneOf(currentScore.wallet, of.wallets)));
  return new Map(rows.map(({ wallet, ...score }) => [wallet, score]));
}
