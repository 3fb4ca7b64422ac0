import type { Gauge, Registry } from "prom-client";
import { metricsOf } from "../../db/metrics.ts";

/** How a payment, or a request that carried one, ended. */
type PaymentOutcome =
  | "settled"
  | "answered"
  | "released"
  | "refused"
  | "withheld"
  | "pending"
  | "front_run"
  | "in_flight"
  | "already_used"
  | "repeated"
  | "owed"
  | "unavailable"
  | "too_dear"
  | "dropped"
  | "captured"
  | "voided"
  | "collected"
  | "collect_failed"
  | "lost";

export function createPaymentMetrics(registry: Registry) {
  const { counter } = metricsOf(registry);
  const payments = counter("ahs_payments_total", "x402 payments by what became of them", "outcome");
  const settlements = counter(
    "ahs_payment_settlements_total",
    "x402 payments whose money moved, by scheme",
    "scheme",
  );
  return {
    count: (outcome: PaymentOutcome) => payments.inc({ outcome }),
    countSettlement: (scheme: string) => settlements.inc({ scheme }),
  };
}

export function createPaymentGauge(registry: Registry): Gauge<"kind"> {
  const { gauge } = metricsOf(registry);
  return gauge(
    "ahs_payments_held",
    "Payments by what they wait for; owed ones wait for their payer, lost ones were taken back by a reorganisation, stuck ones are reserved for over five minutes, and unclaimed ones are channels with charges to collect",
    "kind",
  );
}
