import { Webhook } from "standardwebhooks";
import type { Database } from "../db/database.ts";
import type { GuardedFetch } from "../net/guarded-fetch.ts";
import type { createAlertMetrics } from "./metrics.ts";
import { type AttemptOutcome, failureOf, fateOf, type Random } from "./retry-schedule.ts";
import { type DueEvent, endLease, leaseEvent, type PendingEvent, recordAttempt } from "./webhook-events.ts";

/** Milliseconds after which another worker repeats the attempt of one that died: longer than an attempt takes. */
const LEASE_MS = 60_000;

/**
 * Makes one attempt to deliver an event and records the result. Does nothing if the event is no longer due, or another worker
 * delivers to its endpoint. An aborted attempt leaves no trace and is repeated with the same webhook-id and body.
 */
export async function deliverEvent(
  deps: {
    readonly db: Database;
    readonly fetch: GuardedFetch;
    readonly metrics: ReturnType<typeof createAlertMetrics>;
    readonly now: () => Date;
    readonly monotonicMs: () => number;
    readonly random: Random;
  },
  due: DueEvent,
  signal: AbortSignal,
): Promise<void> {
  const { db, metrics, monotonicMs } = deps;
  const at = deps.now();
  const event = await leaseEvent(db, due.id, { now: at, until: new Date(at.getTime() + LEASE_MS) });
  if (event === null) return;
  const started = monotonicMs();
  const outcome = await send(event, { fetch: deps.fetch, at, signal });
  if (signal.aborted) return endLease(db, due.endpointId);
  const latencyMs = Math.round(monotonicMs() - started);
  const fate = fateOf(outcome, { before: event.attempts, now: deps.now() }, deps.random);
  const failure = fate.kind === "delivered" ? null : failureOf(outcome);
  const status = outcome.kind === "answered" ? outcome.status : null;
  await recordAttempt(db, due, { attempt: { at, status, latencyMs, failure }, fate });
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
