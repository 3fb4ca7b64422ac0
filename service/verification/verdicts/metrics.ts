import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export type VerdictMetrics = {
  readonly queueDepth: Gauge;
  readonly queueAgeSeconds: Gauge;
  readonly processing: Gauge;
  readonly tokensLeft: Gauge;
  readonly runs: Counter<"outcome">;
  readonly runSeconds: Histogram;
};

/** Registers the metrics of the queue of verdicts; once per registry, since names in it are unique. */
export function createVerdictMetrics(registry: Registry): VerdictMetrics {
  const registers = [registry];
  return {
    queueDepth: new Gauge({
      name: "ahs_verdict_queue_depth",
      help: "Verdicts that wait to be run",
      registers,
    }),
    queueAgeSeconds: new Gauge({
      name: "ahs_verdict_queue_age_seconds",
      help: "How long the most overdue verdict has been due",
      registers,
    }),
    processing: new Gauge({
      name: "ahs_verdicts_processing",
      help: "Verdicts that are being run",
      registers,
    }),
    tokensLeft: new Gauge({
      name: "ahs_panel_tokens_left",
      help: "Tokens left of what the panel may use until the end of the UTC day",
      registers,
    }),
    runs: new Counter({
      name: "ahs_verdict_runs_total",
      help: "Tries to run a verdict, by what came of them",
      labelNames: ["outcome"],
      registers,
    }),
    runSeconds: new Histogram({
      name: "ahs_verdict_run_seconds",
      help: "Time from the first try of a run to its decision",
      buckets: [0.1, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 900, 3_600],
      registers,
    }),
  };
}
