import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import { watchSanctionsSources } from "../../service/sanctions/metrics.ts";
import { createSourceWatch, readSanctionsSources } from "../../service/sanctions/sources.ts";
import type { Config } from "../config.ts";
import { addBuildInfo, watchIndex, watchQuarantine, watchScores } from "../operation-metrics.ts";
import { serveMetrics } from "./metrics-server.ts";

type Watched = {
  readonly db: Database;
  readonly deployment: Deployment;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** What a worker shows of itself, of the index, the scores and the sanctions sources, at a port of its own where one is configured. */
export function workerMetrics(
  config: Pick<Config, "metricsPort" | "metricsHost">,
  watched: Watched,
  signal: AbortSignal,
): Registry {
  const { db, deployment, logger, now } = watched;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addBuildInfo(registry, "work");
  watchIndex(registry, watched);
  watchScores(registry, watched);
  watchQuarantine(registry, watched);
  const sources = createSourceWatch({
    read: () => readSanctionsSources(db, deployment),
    monotonicMs: () => performance.now(),
  });
  watchSanctionsSources(registry, { sources, logger, now });
  serveMetrics(registry, config, signal);
  return registry;
}
