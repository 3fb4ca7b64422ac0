import { Counter, Gauge, type Registry } from "prom-client";

export type EnrichMetrics = {
  readonly lagBlocks: Gauge;
  readonly pastWallets: Gauge;
  readonly requests: Counter<"method">;
  readonly rows: Counter<"table">;
  readonly failures: Counter<"kind">;
  readonly factFailures: Counter<"reason">;
  readonly leftOut: Counter<"what">;
  readonly dropped: Counter<"table">;
};

/** Registers the metrics of enrichment; once per registry, since names in it are unique. */
export function createEnrichMetrics(registry: Registry): EnrichMetrics {
  const registers = [registry];
  return {
    lagBlocks: new Gauge({
      name: "ahs_enrich_lag_blocks",
      help: "Finalized blocks of the index that are not enriched yet",
      registers,
    }),
    pastWallets: new Gauge({
      name: "ahs_enrich_past_wallets",
      help: "Wallets whose own past is not read up to the cursor yet",
      registers,
    }),
    requests: new Counter({
      name: "ahs_enrich_requests_total",
      help: "Requests to the node, retries included",
      labelNames: ["method"],
      registers,
    }),
    rows: new Counter({
      name: "ahs_enrich_rows_total",
      help: "Rows written",
      labelNames: ["table"],
      registers,
    }),
    failures: new Counter({
      name: "ahs_enrich_failures_total",
      help: "Ranges that could not be read, by kind; they are tried again",
      labelNames: ["kind"],
      registers,
    }),
    leftOut: new Counter({
      name: "ahs_enrich_left_out_total",
      help: "What no answer of the node has room for, is more than is kept, or ended processes, by what it is; it is not read again",
      labelNames: ["what"],
      registers,
    }),
    dropped: new Counter({
      name: "ahs_enrich_rows_dropped_total",
      help: "Rows deleted whose time was over: transfers of unlisted tokens that others claimed",
      labelNames: ["table"],
      registers,
    }),
    factFailures: new Counter({
      name: "ahs_enrich_fact_failures_total",
      help: "Accounts of which the source gave no facts, by reason; they are asked for again",
      labelNames: ["reason"],
      registers,
    }),
  };
}
