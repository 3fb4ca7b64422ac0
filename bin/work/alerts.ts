import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createAlertMetrics } from "../../service/alerts/metrics.ts";
import { runAlerts } from "../../service/alerts/run-alerts.ts";
import type { Database } from "../../service/db/database.ts";
import { whileLeader } from "../../service/db/leader-lock.ts";
import { createGuardedFetch } from "../../service/net/guarded-fetch.ts";
import type { Config } from "../config.ts";
import { guardFromConfig } from "../guard-from-config.ts";

export type AlertWork = {
  readonly config: Config;
  readonly chainId: number;
  readonly registry: Registry;
  readonly db: Database;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** Events are of a database, whatever chains are scored in it: one process delivers them all. */
const ANY_CHAIN = 0;

/** Delivers webhooks while this process leads in it, until the signal fires. */
export async function deliverAlerts(work: AlertWork, signal: AbortSignal): Promise<void> {
  const { db, logger, chainId } = work;
  const deps = {
    ...work,
    fetch: createGuardedFetch(guardFromConfig(work.config, chainId)),
    metrics: createAlertMetrics(work.registry),
    monotonicMs: () => performance.now(),
    random: Math.random,
  };
  const { metrics } = deps;
  await whileLeader({ db, name: "ahs-alerts", chainId: ANY_CHAIN, logger, metrics, signal }, (led) =>
    runAlerts(deps, led),
  );
}
