import { Webhook } from "standardwebhooks";
import type { Database } from "../db/database.ts";
import type { GuardedFetch } from "../net/guarded-fetch.ts";
import type { createAlertMetrics } from "./metrics.ts";
import { type AttemptOutcome, failureOf, fateOf, type Random } from "./retry-schedule.ts";
import {
  endLease,
  leaseEndpoint,
  type PendingEvent,
  postponeEvent,
  recordAttempt,
} from "./webhook-events.ts";

/** Milliseconds after which another worker repeats the attempt of one that died: twice as long as an attempt may take. */
const LEASE_MS = 20_000;

type DeliveryDeps = {
  readonly db: Database;
  readonly fetch: GuardedFetch;
  readonly metrics: ReturnType<typeof createAlertMetrics>;
  readonly now: () => Date;
  readonly monotonicMs: () => number;
  readonly random: Random;
};

/**
 * Makes one attempt to deliver the oldest due event of an endpoint and records the result. Does nothing if none is due any more,
 * or another worker delivers to the endpoint. An aborted attempt leaves no trace and is repeated with the same webhook-id and body.
 */
export async function deliverNextEvent(
  deps: DeliveryDeps,
  endpointId: string,
  signal: AbortSignal,
): Promise<void> {
  const { db } = deps;
  const at = deps.now();
  const until = new Date(at.getTime() + LEASE_MS);
  const event = await leaseEndpoint(db, endpointId, { now: at, until });
  if (event === null) return;
  try {
    await attempt(deps, { event, endpointId, at }, signal);
  } catch (error) {
    // Without the database, the lease's end does the same.
    await postponeEvent(db, event.id, until).catch(() => undefined);
    await endLease(db, endpointId).catch(() => undefined);
    throw error;
  }
}

async function attempt(
  deps: DeliveryDeps,
  { event, endpointId, at }: { readonly event: PendingEvent; readonly endpointId: string; readonly at: Date },
  signal: AbortSignal,
): Promise<void> {
  const { db, metrics, monotonicMs } = deps;
  const started = monotonicMs();
  const outcome = await send(event, { fetch: deps.fetch, at, signal });
  if (signal.aborted) return endLease(db, endpointId);
  const latencyMs = Math.round(monotonicMs() - started);
  const fate = fateOf(outcome, { before: event.attempts, now: deps.now() }, deps.random);
  const failure = fate.kind === "delivered" ? null : failureOf(outcome);
  const status = outcome.kind === "answered" ? outcome.status : null;
  await recordAttempt(
    db,
    { id: event.id, endpointId },
    { attempt: { at, status, latencyMs, failure }, fate },
  );
  metrics.attempts.inc({ outcome: fate.kind });
  metrics.attemptSeconds.observe(latencyMs / 1000);
}

async function send(
  event: PendingEvent,
  { fetch, at, signal }: { fetch: GuardedFetch; at: Date; signal: AbortSignal },
): Promise<AttemptOutcome> {
  const answer = await fetch({
    url: event.url,
    method: "POST",
    headers: { "content-type": "application/json", ...signDelivery(event, at) },
    body: Buffer.from(event.body),
    // Only the status counts; a long answer is not read to its end.
    part: "start",
    signal,
  });
  if (answer.kind === "failed") return { kind: "failed", detail: answer.detail };
  return { kind: "answered", status: answer.status, retryAfter: answer.headers.get("retry-after") ?? null };
}

/** The headers of one attempt by Standard Webhooks 1.0.0: id, time, and one signature per secret. */
export function signDelivery(
  { id, body, secret, previousSecret }: Pick<PendingEvent, "id" | "body" | "secret" | "previousSecret">,
  at: Date,
): Record<string, string> {
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": secrets.map((one) => new Webhook(one).sign(id, at, body)).join(" "),
  };
}
