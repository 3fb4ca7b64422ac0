import { Counter, Gauge, type Registry } from "prom-client";

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
  | "lost";

export type PaymentMetrics = { readonly count: (outcome: PaymentOutcome) => void };

/** Registers the counter of payments by outcome; once per registry, since names in it are unique. */
export function createPaymentMetrics(registry: Registry): PaymentMetrics {
  const payments = new Counter({
    name: "ahs_payments_total",
    help: "x402 payments by what became of them",
    labelNames: ["outcome"],
    registers: [registry],
  });
  return { count: (outcome) => payments.inc({ outcome }) };
}

/** Registers the gauge of waiting payments; once per registry. */
export function createPaymentGauge(registry: Registry): Gauge<"kind"> {
  return new Gauge({
    name: "ahs_payments_held",
    help: "Payments by what they wait for; owed ones wait for their payer, and stuck ones are reserved for over five minutes",
    labelNames: ["kind"],
    registers: [registry],
  });
}
