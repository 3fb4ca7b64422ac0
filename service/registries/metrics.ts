import { Counter, Gauge, type Registry } from "prom-client";

export type ScanMetrics = {
  readonly documents: Gauge<"state">;
  readonly spentAccounts: Gauge;
  readonly fetches: Counter<"state">;
  readonly probes: Counter<"outcome">;
  readonly endpoints: Gauge;
  readonly endpointsLeftOut: Gauge<"bound">;
  readonly lagSeconds: Gauge;
};

/** Registers the metrics of the scan; once per registry, since names in it are unique. */
export function createScanMetrics(registry: Registry): ScanMetrics {
  const registers = [registry];
  return {
    documents: new Gauge({
      name: "ahs_scan_documents",
      help: "Registration documents of agents, by state",
      labelNames: ["state"],
      registers,
    }),
    spentAccounts: new Gauge({
      name: "ahs_scan_document_accounts_spent",
      help: "Accounts that have used up the documents of the day; their others are read on the next",
      registers,
    }),
    fetches: new Counter({
      name: "ahs_scan_document_fetches_total",
      help: "Registration documents asked for, by what came of it",
      labelNames: ["state"],
      registers,
    }),
    probes: new Counter({
      name: "ahs_scan_probes_total",
      help: "Visits to declared endpoints, by outcome",
      labelNames: ["outcome"],
      registers,
    }),
    endpoints: new Gauge({
      name: "ahs_scan_endpoints",
      help: "Declared endpoints that are visited",
      registers,
    }),
    endpointsLeftOut: new Gauge({
      name: "ahs_scan_endpoints_left_out",
      help: "Declared endpoints beyond a bound: those of a crowded domain wait for a turn, those of an account or the chain are not visited",
      labelNames: ["bound"],
      registers,
    }),
    lagSeconds: new Gauge({
      name: "ahs_scan_probe_lag_seconds",
      help: "How long the most overdue endpoint waits for its visit",
      registers,
    }),
  };
}

export type ScanRunMetrics = {
  readonly lastSuccess: Gauge;
  readonly durationSeconds: Gauge;
  readonly changes: Gauge<"of">;
  readonly failures: Counter;
};

/** Registers the metrics of whole scans, which every worker shows alike; once per registry, since names in it are unique. */
export function createScanRunMetrics(registry: Registry): ScanRunMetrics {
  const registers = [registry];
  return {
    lastSuccess: new Gauge({
      name: "ahs_scan_last_success_timestamp_seconds",
      help: "When the newest scan was done, in Unix seconds; 0 before the first",
      registers,
    }),
    durationSeconds: new Gauge({
      name: "ahs_scan_duration_seconds",
      help: "How long the newest scan took, from its first attempt to its end",
      registers,
    }),
    changes: new Gauge({
      name: "ahs_scan_changes",
      help: "What the newest scan found changed since the one before: grades, documents, agents (new ones), registry_faults",
      labelNames: ["of"],
      registers,
    }),
    failures: new Counter({
      name: "ahs_scan_failures_total",
      help: "Attempts of this worker at a scan that failed",
      registers,
    }),
  };
}
