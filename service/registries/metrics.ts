import type { Registry } from "prom-client";
import { metricsOf } from "../db/metrics.ts";

export function createScanMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry);
  return {
    documents: gauge("ahs_scan_documents", "Registration documents of agents, by state", "state"),
    spentAccounts: gauge(
      "ahs_scan_document_accounts_spent",
      "Accounts that have used up the documents of the day; their others are read on the next",
    ),
    fetches: counter(
      "ahs_scan_document_fetches_total",
      "Registration documents asked for, by what came of it",
      "state",
    ),
    probes: counter("ahs_scan_probes_total", "Visits to declared endpoints, by outcome", "outcome"),
    endpoints: gauge("ahs_scan_endpoints", "Declared endpoints that are visited"),
    endpointsLeftOut: gauge(
      "ahs_scan_endpoints_left_out",
      "Declared endpoints beyond a bound: those of a crowded domain wait for a turn, those of an account or the chain are not visited",
      "bound",
    ),
    lagSeconds: gauge("ahs_scan_probe_lag_seconds", "How long the most overdue endpoint waits for its visit"),
  };
}

export function createScanRunMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry);
  return {
    lastSuccess: gauge(
      "ahs_scan_last_success_timestamp_seconds",
      "When the newest scan was done, in Unix seconds; 0 before the first",
    ),
    durationSeconds: gauge(
      "ahs_scan_duration_seconds",
      "How long the newest scan took, from its first attempt to its end",
    ),
    changes: gauge(
      "ahs_scan_changes",
      "What the newest scan found changed since the one before: grades, documents, agents (new ones), registry_faults",
      "of",
    ),
    failures: counter("ahs_scan_failures_total", "Attempts of this worker at a scan that failed"),
  };
}
