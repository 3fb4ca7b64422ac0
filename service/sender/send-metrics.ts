import { Counter, Gauge, type Registry } from "prom-client";

export type SenderMetrics = {
  readonly sent: Counter<"purpose">;
  readonly mined: Counter<"purpose" | "outcome">;
  readonly failures: Counter<"kind">;
  readonly feeBumps: Counter;
  readonly reorged: Counter;
  readonly gasUsed: Counter<"purpose">;
  readonly costWei: Counter<"purpose">;
  readonly balanceWei: Gauge<"sender">;
  readonly lockHeld: Gauge<"sender">;
};

/** Registers the sender's metrics; once per registry, since names in it are unique. */
export function createSenderMetrics(registry: Registry): SenderMetrics {
  const registers = [registry];
  return {
    sent: new Counter({
      name: "ahs_sender_sent_total",
      help: "Transactions given a nonce",
      labelNames: ["purpose"],
      registers,
    }),
    mined: new Counter({
      name: "ahs_sender_mined_total",
      help: "Transactions seen in a block; again when a reorg moved them",
      labelNames: ["purpose", "outcome"],
      registers,
    }),
    failures: new Counter({
      name: "ahs_sender_failures_total",
      help: "Failures to simulate or broadcast",
      labelNames: ["kind"],
      registers,
    }),
    feeBumps: new Counter({
      name: "ahs_sender_fee_bumps_total",
      help: "Stuck transactions replaced",
      registers,
    }),
    reorged: new Counter({
      name: "ahs_sender_reorged_total",
      help: "Mined transactions that a reorg took out",
      registers,
    }),
    gasUsed: new Counter({
      name: "ahs_sender_gas_used_total",
      help: "Gas of final transactions",
      labelNames: ["purpose"],
      registers,
    }),
    costWei: new Counter({
      name: "ahs_sender_cost_wei_total",
      help: "Wei paid for final transactions",
      labelNames: ["purpose"],
      registers,
    }),
    balanceWei: new Gauge({
      name: "ahs_sender_balance_wei",
      help: "Balance of the sending key",
      labelNames: ["sender"],
      registers,
    }),
    lockHeld: new Gauge({
      name: "ahs_sender_lock_held",
      help: "1 while this process is the sender of the key",
      labelNames: ["sender"],
      registers,
    }),
  };
}
