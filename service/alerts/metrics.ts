import type { Registry } from "prom-client";
import { metricsOf } from "../db/metrics.ts";

export function createAlertMetrics(registry: Registry) {
  const { counter, gauge, histogram } = metricsOf(registry);
  return {
    queueDepth: gauge("ahs_webhook_queue_depth", "Events that wait to be delivered to live endpoints"),
    queueLagSeconds: gauge("ahs_webhook_queue_lag_seconds", "How long the most overdue event has been due"),
    attempts: counter(
      "ahs_webhook_attempts_total",
      "Attempts to deliver an event, by what came of it",
      "outcome",
    ),
    attemptSeconds: histogram(
      "ahs_webhook_attempt_seconds",
      "Time that an attempt to deliver an event took",
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    ),
  };
}
