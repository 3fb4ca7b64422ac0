import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import { metricsOf } from "../db/metrics.ts";
import { ageSeconds, type SourceStatus, type SourceWatch } from "./sources.ts";

/** Registers gauges of every source; call it once per registry, since metric names are unique. */
export function watchSanctionsSources(
  registry: Registry,
  watch: { readonly sources: SourceWatch; readonly now: () => Date; readonly logger: Logger },
): void {
  const { now } = watch;
  addGauge(registry, watch, {
    name: "ahs_sanctions_age_seconds",
    help: "Time since what the source says was known to be up to date, by source; one never read has none",
    read: (status) => ageSeconds(status, now()),
  });
  addGauge(registry, watch, {
    name: "ahs_sanctions_entries",
    help: "Sanctioned addresses, by source",
    read: (status) => status.entries,
  });
  addGauge(registry, watch, {
    name: "ahs_sanctions_unchecked_wallets",
    help: "Wallets that the source still has to be asked about, where it has to be asked",
    read: (status) => status.unchecked,
  });
}

function addGauge(
  registry: Registry,
  { sources, logger }: { readonly sources: SourceWatch; readonly logger: Logger },
  { name, help, read }: { name: string; help: string; read: (status: SourceStatus) => number | null },
): void {
  new Gauge({
    name,
    help,
    labelNames: ["source"],
    registers: [registry],
    async collect() {
      try {
        const statuses = await sources();
        this.reset();
        for (const status of statuses) {
          const value = read(status);
          if (value !== null) this.set({ source: status.source }, value);
        }
      } catch (error) {
        // The other metrics are worth reading all the same.
        logger.warn({ err: error }, "the sanctions sources cannot be read");
      }
    },
  });
}

export function createReadingMetrics(registry: Registry) {
  const { counter } = metricsOf(registry);
  return {
    asked: counter("ahs_sanctions_readings_total", "Answers of the sanctions contract that were kept"),
    failures: counter(
      "ahs_sanctions_reading_failures_total",
      "Rounds of asking the sanctions contract that failed; they are tried again",
    ),
  };
}
