import { and, eq, inArray, max, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Database } from "../db/database.ts";
import { type WebhookState, webhookAttempt, webhookEvent } from "../db/tables/alerts.ts";

export type NewEvent = Omit<typeof webhookEvent.$inferSelect, "state" | "attempts" | "deliveredAt"> & {
  state: "pending" | "dropped";
};

/** Events per statement: each has nine of at most 65,535 parameters. */
const CHUNK = 1_000;

export async function insertEvents(tx: NodePgDatabase, events: readonly NewEvent[]): Promise<void> {
  for (let start = 0; start < events.length; start += CHUNK) {
    await tx
      .insert(webhookEvent)
      .values(events.slice(start, start + CHUNK))
      .onConflictDoNothing();
  }
}

/** Drops the pending events of a subscription, of one type or all, or of an endpoint. In order of id, which prevents deadlocks. */
export async function dropPendingEvents(
  tx: NodePgDatabase,
  of: { readonly subscriptionId: string; readonly type?: string } | { readonly endpointId: string },
): Promise<void> {
  const owner =
    "endpointId" in of ? sql`endpoint_id = ${of.endpointId}` : sql`subscription_id = ${of.subscriptionId}`;
  const type = "type" in of ? sql`and type = ${of.type}` : sql``;
  await tx.execute(sql`
    update ahs.webhook_event set state = 'dropped' where id in (
      select id from ahs.webhook_event where ${owner} ${type} and state = 'pending' order by id for update)`);
}

/** Queues an event again with the same id and body. Returns false if it is pending or unknown. */
export async function requeueEvent(
  tx: NodePgDatabase,
  of: { id: string; subscriptionId: string; at: Date },
): Promise<boolean> {
  const rows = await tx
    .update(webhookEvent)
    .set({ state: "pending", attempts: 0, notBefore: of.at, deliveredAt: null })
    .where(
      and(
        eq(webhookEvent.id, of.id),
        eq(webhookEvent.subscriptionId, of.subscriptionId),
        inArray(webhookEvent.state, ["delivered", "failed", "dropped"]),
      ),
    )
    .returning({ id: webhookEvent.id });
  return rows.length > 0;
}

/** State and last attempt of a subscription's event; null if it has none of this id. */
export async function readEventStatus(
  tx: NodePgDatabase,
  of: { readonly id: string; readonly subscriptionId: string },
): Promise<{ state: WebhookState; triedAt: Date | null } | null> {
  const [row] = await tx
    .select({ state: webhookEvent.state, triedAt: max(webhookAttempt.at) })
    .from(webhookEvent)
    .leftJoin(webhookAttempt, eq(webhookAttempt.eventId, webhookEvent.id))
    .where(and(eq(webhookEvent.id, of.id), eq(webhookEvent.subscriptionId, of.subscriptionId)))
    .groupBy(webhookEvent.id);
  return row ?? null;
}

export type DueEvent = {
  readonly id: string;
  readonly endpointId: string;
  /** The owner whose slots the delivery uses. */
  readonly owner: string;
  /** An earlier event of its endpoint failed and waits for a retry. */
  readonly isFailing: boolean;
};

/**
 * SQL: event `e` is no longer owed to its subscription `s` at $1. The owner ended the subscription, it had expired when
 * the event was made, or it expired three days ago, which is longer than all retries.
 */
export const IS_OVER = `(
  s.ended_at is not null or s.expires_at <= e.created_at or s.expires_at <= $1::timestamptz - interval '3 days')`;

/**
 * SQL: events due at $1 of live endpoints. An endpoint that never answered 2xx gets only tests until it does. A paused
 * endpoint gets nothing until its time is over, and one that a worker delivers to gets nothing else meanwhile.
 */
const DUE = `
  from ahs.webhook_event e
  join ahs.webhook_endpoint w on w.id = e.endpoint_id
  left join ahs.alert_subscription s on s.id = e.subscription_id
  where e.state = 'pending' and e.not_before <= $1
    and w.disabled_at is null and (w.held_until is null or w.held_until <= $1)
    and (w.delivering_until is null or w.delivering_until <= $1)
    and (w.verified_at is not null or e.subscription_id is null or e.type = 'subscription.test')
    and (s.id is null or not ${IS_OVER})`;

/**
 * Reads due events: the oldest of each endpoint, in turns of owners, healthy endpoints before failing ones, first
 * attempts before retries.
 */
export async function readDueEvents(
  db: Database,
  of: { now: Date; perEndpoint: number; limit: number },
): Promise<readonly DueEvent[]> {
  const { rows } = await db.$client.query<DueEvent>(
    `with due as (
       select e.id, e.endpoint_id, e.attempts, e.not_before,
              coalesce(s.owner, (select owner from ahs.verdict where endpoint_id = e.endpoint_id limit 1),
                e.endpoint_id::text) as owner,
              row_number() over (partition by e.endpoint_id order by e.not_before, e.created_at, e.id) as place
       ${DUE}
     ), turns as (
       select *, row_number() over (partition by owner order by place, attempts > 0, not_before, id) as turn
       from due where place <= $2
     ), failing as materialized (
       -- Of each endpoint that something is due for: however many others wait to be tried again, they are not read.
       select endpoint_id from (select distinct endpoint_id from turns) of_turns
       where exists (select from ahs.webhook_event f
         where f.endpoint_id = of_turns.endpoint_id and f.state = 'pending' and f.attempts > 0 offset 0)
     )
     select id, endpoint_id as "endpointId", owner, failing as "isFailing" from (
       select *, endpoint_id in (select endpoint_id from failing) as failing from turns) of_failing
     order by turn, failing, attempts > 0, not_before, id limit $3`,
    [of.now, of.perEndpoint, of.limit],
  );
  return rows;
}

export type PendingEvent = {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  /** Signs as well; null where no rotation is so recent. */
  readonly previousSecret: string | null;
  readonly body: string;
  /** Attempts since it was queued, or queued again. */
  readonly attempts: number;
};

/**
 * Leases an endpoint to one worker, until the attempt is recorded or the lease ends, and returns its oldest due event. Null if it
 * has none any more, or another worker delivers to it.
 */
export async function leaseEndpoint(
  db: Database,
  endpointId: string,
  { now, until }: { readonly now: Date; readonly until: Date },
): Promise<PendingEvent | null> {
  // Both rows are locked: an event that another worker delivered meanwhile is read anew.
  const { rows } = await db.$client.query<PendingEvent>(
    `with due as (
       select e.id, e.endpoint_id, e.body, e.attempts ${DUE} and e.endpoint_id = $2
       order by e.not_before, e.created_at, e.id limit 1 for no key update of w, e skip locked
     )
     update ahs.webhook_endpoint w set delivering_until = $3 from due where w.id = due.endpoint_id
     returning due.id, w.url, w.secret, case when w.previous_until > $1 then w.previous_secret end as "previousSecret",
       due.body, due.attempts`,
    [now, endpointId, until],
  );
  return rows[0] ?? null;
}

/** Has an event wait whose attempt could not be recorded, so that the others of its endpoint do not. */
export async function postponeEvent(db: Database, id: string, notBefore: Date): Promise<void> {
  await db.execute(
    sql`update ahs.webhook_event set not_before = ${notBefore} where id = ${id} and state = 'pending'`,
  );
}

/** Ends the lease of an endpoint. Other writers of the endpoint and its events wait until the transaction ends. */
export async function endLease(tx: NodePgDatabase, endpointId: string): Promise<void> {
  await tx.execute(sql`update ahs.webhook_endpoint set delivering_until = null where id = ${endpointId}`);
}

export type Attempt = {
  readonly at: Date;
  /** Status of the answer; null without one. */
  readonly status: number | null;
  readonly latencyMs: number;
  /** Why it does not count as delivered; null where it does. */
  readonly failure: string | null;
};

export type EventFate =
  | { readonly kind: "delivered" }
  | {
      readonly kind: "retry";
      readonly at: Date;
      /** Until when the endpoint wants nothing at all; null where it did not say so. */
      readonly holdUntil: Date | null;
    }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "exhausted"; readonly reason: string };

/**
 * Records an attempt and the fate of its event, and ends the lease of its endpoint. An endpoint is given up if it refuses, or
 * after a last attempt if it answered no other event since the first one; its pending events are then dropped. An event that was
 * dropped in between stays dropped unless delivered.
 */
export async function recordAttempt(
  db: Database,
  event: Pick<DueEvent, "id" | "endpointId">,
  { attempt, fate }: { readonly attempt: Attempt; readonly fate: EventFate },
): Promise<void> {
  await db.transaction(async (tx) => {
    await endLease(tx, event.endpointId);
    await tx.execute(sql`
      insert into ahs.webhook_attempt (event_id, at, status, latency_ms, failure)
      values (${event.id}, ${attempt.at}, ${attempt.status}, ${attempt.latencyMs}, ${attempt.failure})`);
    switch (fate.kind) {
      case "delivered":
        await tx.execute(sql`
          update ahs.webhook_event set state = 'delivered', delivered_at = ${attempt.at}, attempts = attempts + 1
          where id = ${event.id}`);
        await tx.execute(sql`
          update ahs.webhook_endpoint set verified_at = ${attempt.at}, held_until = null
          where id = ${event.endpointId} and (verified_at is null or held_until is not null)`);
        return;
      case "retry":
        await countAttempt(tx, event.id, { state: "pending", notBefore: fate.at });
        if (fate.holdUntil !== null)
          await tx.execute(sql`
            update ahs.webhook_endpoint set held_until = ${fate.holdUntil} where id = ${event.endpointId}`);
        return;
      case "refused":
        await countAttempt(tx, event.id, { state: "failed", notBefore: attempt.at });
        await giveUp(tx, { endpointId: event.endpointId, at: attempt.at, reason: fate.reason });
        return;
      case "exhausted":
        await countAttempt(tx, event.id, { state: "failed", notBefore: attempt.at });
        if (!(await answeredSince(tx, event)))
          await giveUp(tx, { endpointId: event.endpointId, at: attempt.at, reason: fate.reason });
    }
  });
}

async function countAttempt(
  tx: NodePgDatabase,
  id: string,
  to: { state: "pending" | "failed"; notBefore: Date },
): Promise<void> {
  await tx.execute(sql`
    update ahs.webhook_event set state = ${to.state}, not_before = ${to.notBefore}, attempts = attempts + 1
    where id = ${id} and state = 'pending'`);
}

async function answeredSince(
  tx: NodePgDatabase,
  event: Pick<DueEvent, "id" | "endpointId">,
): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    with current as (select attempts from ahs.webhook_event where id = ${event.id}),
    series as (
      select at from ahs.webhook_attempt where event_id = ${event.id}
      order by at desc, id desc limit (select attempts from current)
    )
    select 1 from ahs.webhook_event
    where endpoint_id = ${event.endpointId} and delivered_at > (select min(at) from series) limit 1`);
  return rows.length > 0;
}

async function giveUp(
  tx: NodePgDatabase,
  of: { endpointId: string; at: Date; reason: string },
): Promise<void> {
  await tx.execute(sql`
    update ahs.webhook_endpoint set disabled_at = ${of.at}, disabled_reason = ${of.reason}
    where id = ${of.endpointId} and disabled_at is null`);
  await dropPendingEvents(tx, of);
}
