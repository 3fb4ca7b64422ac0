import { randomBytes, randomUUID } from "node:crypto";
import pino from "pino";
import { Registry } from "prom-client";
import type { Address } from "viem";
import { createAlertMetrics } from "../../../service/alerts/metrics.ts";
import { type AlertDeps, runAlerts } from "../../../service/alerts/run-alerts.ts";
import {
  createSubscribe,
  type SubscribeRequest,
  type SubscriptionDeps,
} from "../../../service/alerts/subscriptions.ts";
import { createGuardedFetch } from "../../../service/net/guarded-fetch.ts";
import { openTestDatabase } from "../../support/test-database.ts";

export const WALLET: Address = `0x${"a1".repeat(20)}`;
const URL_A = "https://hooks.example.com/a";
export const DAY_MS = 86_400_000;

export type AlertWorld = Awaited<ReturnType<typeof createAlertWorld>>;

/** A database of subscriptions, with a clock that the test moves. */
export async function createAlertWorld(start = new Date("2026-11-20T10:00:00.000Z")) {
  const { db, close } = await openTestDatabase();
  let now = start;
  const deps: SubscriptionDeps = { db, chainId: 31_337, now: () => now, randomBytes, randomUuid: randomUUID };
  const subscribe = createSubscribe(deps);
  return {
    db,
    deps,
    close,
    now: () => now,
    pass: (ms: number): void => {
      now = new Date(now.getTime() + ms);
    },
    buy: (changes: Partial<SubscribeRequest> = {}) =>
      subscribe({
        wallet: WALLET,
        owner: "key:one",
        webhookUrl: URL_A,
        events: null,
        thresholds: null,
        purchase: null,
        debitId: null,
        ...changes,
      }),
    query: async (text: string, values: readonly unknown[] = []) => {
      const { rows } = await db.$client.query(text, [...values]);
      return rows;
    },
    /** Every event, oldest first. */
    events: async () => {
      const { rows } = await db.$client.query(
        "select id, type, state, attempts, subscription_id from ahs.webhook_event order by created_at, id",
      );
      return rows as { id: string; type: string; state: string; attempts: number; subscription_id: string }[];
    },
  };
}

/** Delivers events in this process; returns a function that stops it. */
export function startAlerts(world: AlertWorld, changes: Partial<AlertDeps> = {}): () => Promise<void> {
  const stopping = new AbortController();
  const deps: AlertDeps = {
    db: world.db,
    fetch: createGuardedFetch({ resolve: async () => [], loopback: "allowed" }),
    metrics: createAlertMetrics(new Registry()),
    logger: pino({ level: "silent" }),
    now: world.now,
    monotonicMs: () => performance.now(),
    random: () => 0.5,
    ...changes,
  };
  const running = runAlerts(deps, stopping.signal);
  return async () => {
    stopping.abort();
    await running;
  };
}
