import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Database } from "../db/database.ts";
import { lockEndpoint } from "./alert-subscriptions.ts";
import type { DueEvent } from "./webhook-events.ts";

/** An attempt as its log shows it. */
export type Attempt = {
  readonly at: Date;
  /** What the endpoint answered; null where it did not. */
  readonly status: number | null;
  readonly latencyMs: number;
  /** Why it does not count as delivered; null where it does. */
  readonly failure: string | null;
};

/** What comes of an event after an attempt. */
export type EventFate =
  | { readonly kind: "delivered" }
  | {
      readonly kind: "retry";
      readonly at: Date;
      /** Until when the endpoint wants nothing at all; null where it did not say so. */
      readonly holdUntil: Date | null;
    }
  /** The endpoint wants nothing any more. */
  | { readonly kind: "refused"; readonly reason: string }
  /** That was the last attempt. */
  | { readonly kind: "exhausted"; readonly reason: string };

/**
 * Writes an attempt and what comes of its event. An endpoint is given up where it refuses, and after the last attempt unless
 * it answered another event since the first one; what else waits for it is dropped then. An event that was dropped meanwhile
 * and not delivered stays so.
 */
export async function recordAttempt(
  db: Database,
  event: Pick<DueEvent, "id" | "endpointId">,
  { attempt, fate }: { readonly attempt: Attempt; readonly fate: EventFate },
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockEndpoint(tx, event.endpointId);
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
  to: { readonly state: "pending" | "failed"; readonly notBefore: Date },
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
    with told as (select attempts from ahs.webhook_event where id = ${event.id}),
    series as (
      select at from ahs.webhook_attempt where event_id = ${event.id}
      order by at desc, id desc limit (select attempts from told)
    )
    select 1 from ahs.webhook_event
    where endpoint_id = ${event.endpointId} and delivered_at > (select min(at) from series) limit 1`);
  return rows.length > 0;
}

async function giveUp(
  tx: NodePgDatabase,
  of: { readonly endpointId: string; readonly at: Date; readonly reason: string },
): Promise<void> {
  await tx.execute(sql`
    update ahs.webhook_endpoint set disabled_at = ${of.at}, disabled_reason = ${of.reason}
    where id = ${of.endpointId} and disabled_at is null`);
  await tx.execute(sql`
    update ahs.webhook_event set state = 'dropped' where id in (
      select id from ahs.webhook_event where endpoint_id = ${of.endpointId} and state = 'pending'
      order by id for update)`);
}
