import type { Registry } from "prom-client";
import { whileLeader } from "../../service/db/leader-lock.ts";
import { createGuardedFetch } from "../../service/net/guarded-fetch.ts";
import { createScanMetrics, createScanRunMetrics } from "../../service/registries/metrics.ts";
import { runScan } from "../../service/registries/probes/run-scan.ts";
import { guardFromConfig } from "../guard-from-config.ts";
import { runNightly } from "./nightly.ts";
import { type ScanContext, scanWith } from "./scan-once.ts";

/** Reads documents, probes endpoints and makes the scan of every night until the signal fires. */
export async function runScans(
  context: ScanContext & { readonly registry: Registry },
  signal: AbortSignal,
): Promise<void> {
  const { config, scoring, registry } = context;
  const { db, chainId, logger, now } = scoring;
  const common = { db, chainId, logger, now };
  const visits = {
    ...common,
    fetch: createGuardedFetch(guardFromConfig(config, chainId)),
    ipfsGateway: config.ipfsGateway,
    metrics: createScanMetrics(registry),
    monotonicMs: () => performance.now(),
    random: Math.random,
  };
  await Promise.all([
    whileLeader({ ...common, name: "ahs-scan", metrics: visits.metrics, signal }, (led) =>
      runScan(visits, led),
    ),
    runNightly({ ...common, scan: scanWith(context), metrics: createScanRunMetrics(registry) }, signal),
  ]);
}
