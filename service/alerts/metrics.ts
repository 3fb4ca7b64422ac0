import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export type AlertMetrics = {
  readonly queueDepth: Gauge;
  readonly queueLagSeconds: Gauge;
  readonly attempts: Counter<"outcome">;
  readonly attemptSeconds: Histogram;
};

/** Registers the metrics of webhook delivery; once per registry, since names in it are unique. */
export function createAlertMetrics(registry: Registry): AlertMetrics {
  const registers = [registry];
  return {
    queueDepth: new Gauge({
      name: "ahs_webhook_queue_depth",
      help: "Events that wait to be delivered to live endpoints",
      registers,
    }),
    queueLagSeconds: new Gauge({
      name: "ahs_webhook_queue_lag_seconds",
      help: "How long the most overdue event has been due",
      registers,
    }),
    attempts: new Counter({
      name: "ahs_webhook_attempts_total",
      help: "Attempts to deliver an event, by what came of it",
      labelNames: ["outcome"],
      registers,
    }),
    attemptSeconds: new Histogram({
      name: "ahs_webhook_attempt_seconds",
      help: "Time that an attempt to deliver an event took",
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
  };
}
