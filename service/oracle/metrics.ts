import { Counter, Gauge, type Registry } from "prom-client";

export type PublishMetrics = {
  readonly published: Counter<"reason">;
  readonly failures: Counter<"cause">;
  readonly reorged: Counter;
  readonly pending: Gauge;
  readonly budgetSpentGas: Gauge;
};

/** Registers the publisher's metrics; once per registry, since names in it are unique. */
export function createPublishMetrics(registry: Registry): PublishMetrics {
  const registers = [registry];
  return {
    published: new Counter({
      name: "ahs_publish_published_total",
      help: "Scores that the oracle's events show",
      labelNames: ["reason"],
      registers,
    }),
    failures: new Counter({
      name: "ahs_publish_failures_total",
      help: "Scores not published, by cause; they are tried again",
      labelNames: ["cause"],
      registers,
    }),
    reorged: new Counter({
      name: "ahs_publish_reorged_total",
      help: "Published scores that a reorg took out",
      registers,
    }),
    pending: new Gauge({ name: "ahs_publish_pending", help: "Scores that wait to be published", registers }),
    budgetSpentGas: new Gauge({
      name: "ahs_publish_budget_spent_gas",
      help: "Gas of today's publications, those under way at their limit",
      registers,
    }),
  };
}
