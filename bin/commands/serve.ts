import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { SCORING_INTERFACE } from "../../service/api/create-app.ts";
import { type ApiInterface, createInterfaceApp } from "../../service/api/create-interface.ts";
import { VERIFICATION_INTERFACE } from "../../service/api/create-verification-app.ts";
import { createServerLife } from "../../service/api/kit/server-life.ts";
import type { Services } from "../../service/api/services.ts";
import { loadDeployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import { requireSanctionsSource } from "../../service/sanctions/sources.ts";
import { type Config, type Invocation, requireIndexSettings } from "../config.ts";
import type { InterfaceName } from "../environment.ts";
import { historyReaderFromConfig } from "../from-config.ts";
import { countDrops, serveMetrics } from "../metrics.ts";
import {
  createLogger,
  openMigratedDatabase,
  openProcessDatabase,
  shutdownSignal,
  warnOfPlainTexts,
} from "../process.ts";
import { scoreSigner } from "../serve/attest.ts";
import { createServices, trustedProxiesOf } from "../serve/create-services.ts";
import { drainServer, SERVER_LIMITS, startHttpServer, watchDescriptors } from "../serve/http-server.ts";

const INTERFACES: Readonly<Record<InterfaceName, ApiInterface<Services>>> = {
  scoring: SCORING_INTERFACE,
  verification: VERIFICATION_INTERFACE,
};

/** A load balancer asks /readyz every two seconds, and waits for as long. */
const LEAVE_MS = 5_000;
/** A settlement is waited for 20 s at most. */
const DRAIN = { finishMs: 10_000, settleMs: 20_000 };

/**
 * `ahs serve`: the HTTP API until a signal stops it; open requests are answered first. After SIGTERM it answers on for some
 * seconds with /readyz at 503, so that a load balancer loses no request; Ctrl-C does not wait for one.
 */
export async function serveApi({ config }: Invocation): Promise<void> {
  const { deploymentFile } = requireIndexSettings(config);
  const logger = createLogger(config, "serve");
  const signal = shutdownSignal();
  let isTerminated = false;
  process.once("SIGTERM", () => {
    isTerminated = true;
  });
  const deployment = loadDeployment(deploymentFile);
  const signer = await scoreSigner(config, deployment.chainId);
  warnOfPlainTexts(config, logger);
  const { db, clock } = await openMigratedDatabase(config, "ahs-serve", { logger, signal });
  await requireSanctionsSource(db, deployment);
  const history = historyReaderFromConfig(config, deployment.chainId);
  const life = createServerLife();
  const replica = openReplica(config, logger);
  const services = await createServices(config, {
    db,
    clock,
    replica,
    logger,
    history,
    life,
    signer,
    signal,
  });
  const app = createInterfaceApp(
    services,
    config.interfaces.map((name) => INTERFACES[name]),
  );
  serveMetrics(services.registry, config, signal);
  const server = await startHttpServer(app.fetch, {
    ...config,
    limits: SERVER_LIMITS,
    trustedProxies: trustedProxiesOf(config),
    onDrop: countDrops(services.registry),
  });
  watchDescriptors(server, logger);
  logger.info({ host: config.host, port: config.port }, "serving");
  if (!signal.aborted) await once(signal, "abort");
  life.leave();
  if (isTerminated) await sleep(LEAVE_MS);
  await drainServer(server, life, DRAIN);
  await history?.close();
  await replica?.$client.end();
  await db.$client.end();
}

/** Null where no replica is configured. It need not answer: reads go to the primary meanwhile. */
function openReplica({ replica, textKeys }: Config, logger: Logger): Database | null {
  if (replica.url === null) return null;
  return openProcessDatabase({ databaseUrl: replica.url, textKeys }, "ahs-serve", logger);
}
