import type { Database } from "../db/database.ts";
import type { WebhookState } from "../db/tables/alerts.ts";
import { type Attempt, IS_OVER } from "./webhook-events.ts";

/** An event with every attempt to deliver it. */
export type Delivery = {
  readonly id: string;
  readonly type: string;
  readonly state: WebhookState;
  readonly createdAt: Date;
  readonly deliveredAt: Date | null;
  /** When it is tried next; null once it is not waiting. */
  readonly nextAttemptAt: Date | null;
  readonly body: string;
  /** Oldest first. */
  readonly attempts: readonly Attempt[];
};

export type DeliveryPage = {
  readonly limit: number;
  /** The last delivery of the page before; null for the first page. */
  readonly after: string | null;
};

/** Events of a subscription, newest first; empty after an unknown delivery. */
export function readDeliveries(
  db: Database,
  subscriptionId: string,
  page: DeliveryPage,
): Promise<readonly Delivery[]> {
  return readWhere(db, "subscription_id = $1", { id: subscriptionId, ...page });
}

/** The same of a verdict, for the endpoint of its output. */
export function readVerdictDeliveries(
  db: Database,
  verdictId: string,
  page: DeliveryPage,
): Promise<readonly Delivery[]> {
  const isOfVerdict = "endpoint_id = (select v.endpoint_id from ahs.verdict v where v.id = $1)";
  return readWhere(db, isOfVerdict, { id: verdictId, ...page });
}

async function readWhere(
  db: Database,
  condition: string,
  { id, limit, after }: DeliveryPage & { readonly id: string },
): Promise<readonly Delivery[]> {
  const { rows } = await db.$client.query<
    Omit<Delivery, "attempts"> & { attempts: readonly (Omit<Attempt, "at"> & { readonly atMs: number })[] }
  >(
    `select e.id, e.type, e.state, e.created_at as "createdAt", e.delivered_at as "deliveredAt",
            case when e.state = 'pending' then e.not_before end as "nextAttemptAt", e.body,
            coalesce((
              select json_agg(json_build_object('atMs', floor(extract(epoch from a.at) * 1000)::float8, 'status', a.status,
                'latencyMs', a.latency_ms, 'failure', a.failure) order by a.at, a.id)
              from ahs.webhook_attempt a where a.event_id = e.id), '[]'::json) as attempts
     from ahs.webhook_event e
     where e.${condition}
       and ($2::text is null or (e.created_at, e.id) < (
         select l.created_at, l.id from ahs.webhook_event l where l.id = $2 and l.${condition}))
     order by e.created_at desc, e.id desc limit $3`,
    [id, after, limit],
  );
  return rows.map((row) => ({
    ...row,
    attempts: row.attempts.map(({ atMs, ...attempt }) => ({ at: new Date(atMs), ...attempt })),
  }));
}

/** How much waits for live endpoints, and how long the most overdue of it has been due. */
export async function readWebhookQueue(
  db: Database,
  now: Date,
): Promise<{
  readonly depth: number;
  /** Seconds that the most overdue event has been due; 0 without one. */
  readonly lagSeconds: number;
}> {
  const { rows } = await db.$client.query<{ readonly depth: number; readonly lag: number }>(
    `select count(*)::float8 as depth,
            greatest(0, coalesce(extract(epoch from $1 - min(e.not_before) filter (
              where w.verified_at is not null or e.subscription_id is null or e.type = 'subscription.test')), 0))::float8 as lag
     from ahs.webhook_event e join ahs.webhook_endpoint w on w.id = e.endpoint_id
     where e.state = 'pending' and w.disabled_at is null and (w.held_until is null or w.held_until <= $1)`,
    [now],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a count answers one row");
  return { depth: row.depth, lagSeconds: row.lag };
}

/** Drops pending events that are no longer owed to their subscriptions. Returns their number. */
export async function dropEventsOfEnded(db: Database, now: Date): Promise<number> {
  const { rowCount } = await db.$client.query(
    `update ahs.webhook_event set state = 'dropped' where id in (
       select e.id from ahs.webhook_event e join ahs.alert_subscription s on s.id = e.subscription_id
       where e.state = 'pending' and ${IS_OVER}
       order by e.id for update of e)`,
    [now],
  );
  return rowCount ?? 0;
}

const SWEEP_BATCH = 10_000;

/** Deletes finished events made before a moment, with their attempts. Returns their number. */
export async function sweepEvents(db: Database, before: Date): Promise<number> {
  let swept = 0;
  for (;;) {
    // Two statements: attempts must be deleted before the events that they reference.
    const { rows } = await db.$client.query<{ id: string }>(
      `with old as (
         select id from ahs.webhook_event where created_at < $1 and state <> 'pending' limit $2
       ), gone as (
         delete from ahs.webhook_attempt a using old where a.event_id = old.id
       )
       select id from old`,
      [before, SWEEP_BATCH],
    );
    if (rows.length === 0) return swept;
    const { rowCount } = await db.$client.query(
      "delete from ahs.webhook_event where id = any($1) and state <> 'pending'",
      [rows.map(({ id }) => id)],
    );
    swept += rowCount ?? 0;
  }
}
