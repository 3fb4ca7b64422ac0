import type { Logger } from "pino";
import { Counter, collectDefaultMetrics, Registry } from "prom-client";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import { watchSanctionsSources } from "../../service/sanctions/metrics.ts";
import {
  createSourceWatch,
  readSanctionsSources,
  type SourceWatch,
} from "../../service/sanctions/sources.ts";
import { addBuildInfo, watchIndex } from "../operation-metrics.ts";
import type { DropReason } from "./connection-limits.ts";

type Watched = {
  readonly db: Database;
  readonly deployment: Deployment;
  readonly logger: Logger;
  readonly clock: { now(): Date; monotonicMs(): number };
};

/** What a server shows of itself, of the index and of the sanctions sources, and the latter as readiness asks for them. */
export function serverMetrics({ db, deployment, logger, clock }: Watched): {
  readonly registry: Registry;
  readonly sanctionsSources: SourceWatch;
} {
  const { now } = clock;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addBuildInfo(registry, "serve");
  watchIndex(registry, { db, deployment, logger, now });
  const sanctionsSources = createSourceWatch({ ...clock, read: () => readSanctionsSources(db, deployment) });
  watchSanctionsSources(registry, { sources: sanctionsSources, now, logger });
  return { registry, sanctionsSources };
}

/** Counts the connections that a server ends. */
export function countDrops(registry: Registry): (reason: DropReason) => void {
  const drops = new Counter({
    name: "ahs_http_connections_dropped_total",
    help: "Connections ended for what their client did, by reason",
    labelNames: ["reason"],
    registers: [registry],
  });
  return (reason) => drops.inc({ reason });
}
