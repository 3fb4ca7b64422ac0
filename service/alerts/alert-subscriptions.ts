import { and, desc, eq, gt, isNull, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import type { Database } from "../db/database.ts";
import { isOneOf } from "../db/is-one-of.ts";
import { type AlertThresholds, alertSubscription, webhookEndpoint } from "../db/tables/alerts.ts";
import { currentScore, score } from "../db/tables/score.ts";
import type { SanctionsFlag } from "../model/features/types.ts";
import type { ConfidenceLevel, Grade } from "../model/score/record.ts";

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

type NewSubscription = SubscriptionPlace & {
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

/** Someone to be told of what happens to a wallet. */
export type LiveSubscription = {
  readonly id: string;
  readonly endpointId: string;
  readonly wallet: Address;
  readonly events: readonly string[];
  readonly thresholds: AlertThresholds;
  /** Its endpoint was given up: it is told when it is asked to be, by a replay. */
  readonly isDisabled: boolean;
};

/**
 * Subscriptions that run for any of these wallets, by wallet. Two writers of scores of a wallet that somebody subscribed to
 * take turns from here on, so that each sees what the other made current.
 */
export async function takeLiveSubscriptions(
  tx: NodePgDatabase,
  of: { readonly chainId: number; readonly wallets: readonly string[]; readonly at: Date },
): Promise<readonly LiveSubscription[]> {
  const { rows } = await tx.execute<LiveRow>(sql`
    select s.id, s.endpoint_id, s.wallet, s.events, s.thresholds, e.disabled_at is not null as disabled
    from ahs.alert_subscription s join ahs.webhook_endpoint e on e.id = s.endpoint_id
    where s.chain_id = ${of.chainId} and s.wallet = any(${sql.param(of.wallets)})
      and s.expires_at > ${of.at} and s.ended_at is null
    order by s.wallet, s.id
    for no key update of s`);
  return rows.map(liveOf);
}

/** A subscription whose end is near. */
export type ExpiringSubscription = LiveSubscription & {
  readonly chainId: number;
  readonly expiresAt: Date;
};

/** From the moment after one until another, that one as well. */
type Span = { readonly after: Date; readonly until: Date };

/**
 * Ids of running subscriptions of every chain that end in a span, the soonest first, whose endpoint has no event yet by the
 * dedupe key that is made of the end in Unix milliseconds between two texts.
 */
export async function readUntold(
  db: NodePgDatabase,
  {
    after,
    until,
    key,
    limit,
    except = [],
  }: Span & {
    readonly key: readonly [string, string];
    readonly limit: number;
    readonly except?: readonly string[];
  },
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

/** Those of some subscriptions that run still and end in a span; writers of them wait until the transaction ends. */
export async function takeExpiring(
  tx: NodePgDatabase,
  { after, until, ids }: Span & { readonly ids: readonly string[] },
): Promise<readonly ExpiringSubscription[]> {
  const { rows } = await tx.execute<ExpiringRow>(sql`
    select s.id, s.endpoint_id, s.wallet, s.events, s.thresholds, e.disabled_at is not null as disabled,
      s.chain_id, s.expires_at::text as expires_at
    from ahs.alert_subscription s join ahs.webhook_endpoint e on e.id = s.endpoint_id
    where s.id = any(${sql.param(ids)}::uuid[])
      and s.ended_at is null and s.expires_at > ${after} and s.expires_at <= ${until}
    order by s.wallet, s.id for no key update of s`);
  return rows.map((row) => ({
    ...liveOf(row),
    chainId: row.chain_id,
    expiresAt: new Date(row.expires_at),
  }));
}

type LiveRow = {
  readonly id: string;
  readonly endpoint_id: string;
  readonly wallet: Address;
  readonly events: readonly string[];
  readonly thresholds: AlertThresholds;
  readonly disabled: boolean;
};

type ExpiringRow = LiveRow & { readonly chain_id: number; readonly expires_at: string };

function liveOf({ id, endpoint_id, wallet, events, thresholds, disabled }: LiveRow): LiveSubscription {
  return { id, endpointId: endpoint_id, wallet, events, thresholds, isDisabled: disabled };
}

/** The values of a score that can have a threshold; null where they are unknown. */
export type WatchedValues = Readonly<Record<keyof AlertThresholds, number | null>>;

/** The current score of a wallet, as far as somebody is told of it. */
export type ToldScore = WatchedValues & {
  readonly scoreId: number;
  /** Null for a record without enough history, as are the scores. */
  readonly grade: Grade | null;
  readonly confidenceMicros: number;
  readonly confidenceLevel: ConfidenceLevel;
  readonly sanctioned: boolean;
  readonly sanctionsFlags: readonly SanctionsFlag[];
  readonly asOfBlock: number;
  readonly asOfTime: Date;
  readonly inputsHash: string;
};

/** The current scores of those wallets that have one. */
export async function readToldScores(
  tx: NodePgDatabase,
  of: { readonly chainId: number; readonly wallets: readonly string[] },
): Promise<ReadonlyMap<string, ToldScore>> {
  const rows = await tx
    .select({
      wallet: currentScore.wallet,
      scoreId: score.id,
      grade: score.grade,
      ahsScore: score.ahsScore,
      d1Score: score.d1Score,
      d2Score: score.d2Score,
      confidenceMicros: score.confidenceMicros,
      confidenceLevel: score.confidenceLevel,
      sanctioned: score.sanctioned,
      sanctionsFlags: score.sanctionsFlags,
      asOfBlock: score.asOfBlock,
      asOfTime: score.asOfTime,
      inputsHash: score.inputsHash,
    })
    .from(currentScore)
    .innerJoin(score, eq(score.id, currentScore.scoreId))
    .where(and(eq(currentScore.chainId, of.chainId), isOneOf(currentScore.wallet, of.wallets)));
  return new Map(rows.map(({ wallet, ...told }) => [wallet, told]));
}
