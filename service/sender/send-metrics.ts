import type { Registry } from "prom-client";
import { metricsOf } from "../db/metrics.ts";

export function createSenderMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry);
  return {
    sent: counter("ahs_sender_sent_total", "Transactions given a nonce", "purpose"),
    mined: counter(
      "ahs_sender_mined_total",
      "Transactions seen in a block; again when a reorg moved them",
      "purpose",
      "outcome",
    ),
    failures: counter("ahs_sender_failures_total", "Failures to simulate or broadcast", "kind"),
    feeBumps: counter("ahs_sender_fee_bumps_total", "Stuck transactions replaced"),
    reorged: counter("ahs_sender_reorged_total", "Mined transactions that a reorg took out"),
    gasUsed: counter("ahs_sender_gas_used_total", "Gas of final transactions", "purpose"),
    costWei: counter("ahs_sender_cost_wei_total", "Wei paid for final transactions", "purpose"),
    balanceWei: gauge("ahs_sender_balance_wei", "Balance of the sending key", "sender"),
    lockHeld: gauge("ahs_sender_lock_held", "1 while this process is the sender of the key", "sender"),
  };
}
