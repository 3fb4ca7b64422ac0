import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { type Address, getAddress } from "viem";
import type { LocalAccount } from "viem/accounts";
import { createApiKeyAccess } from "../../service/api/access/api-key-access.ts";
import { createAccess } from "../../service/api/access/create-access.ts";
import { type ApiPorts, SCORING_INTERFACE } from "../../service/api/create-app.ts";
import { type ApiInterface, createInterfaceApp } from "../../service/api/create-interface.ts";
import { VERIFICATION_INTERFACE, type VerificationPorts } from "../../service/api/create-verification-app.ts";
import { createEpochLists } from "../../service/api/operation/epoch-lists.ts";
import { createServerLife, type ServerLife } from "../../service/api/server-life.ts";
import { type Deployment, loadDeployment } from "../../service/chain/deployments.ts";
import type { HistoryReader } from "../../service/history/history-reader.ts";
import { defaultPublishPolicy } from "../../service/publish/policy.ts";
import { scoreNow } from "../../service/record/score-now.ts";
import { type OnDemandContext, scoreOnDemand } from "../../service/record/score-on-demand.ts";
import { askingFirst } from "../../service/sanctions/asking-first.ts";
import { createSanctionsContract } from "../../service/sanctions/contract.ts";
import { watchSanctionsSources } from "../../service/sanctions/metrics.ts";
import { createSourceWatch } from "../../service/sanctions/source-watch.ts";
import { readSanctionsSources, requireSanctionsSource } from "../../service/sanctions/sources.ts";
import { createUrlVisitor } from "../../service/scan/url-visitor.ts";
import { AHS_2026_1 } from "../../service/score/policy.ts";
import { apiKeyFinder } from "../../service/store/api-keys.ts";
import type { Database } from "../../service/store/database.ts";
import { readEpoch, readEpochRoot, readInputFile } from "../../service/store/discovery-files.ts";
import { createKeyDebits } from "../../service/store/key-debits.ts";
import { createInfrastructureReader } from "../../service/store/probes-of-wallet.ts";
import { createScoreReader } from "../../service/store/scores.ts";
import { createInterestRecorder } from "../../service/store/wallet-interest.ts";
import type { Invocation } from "../ahs.ts";
import { type Config, requireIndexSettings } from "../config.ts";
import type { InterfaceName } from "../environment.ts";
import { guardFromConfig } from "../guard-from-config.ts";
import { historyReaderFromConfig } from "../history-from-config.ts";
import { addBuildInfo, watchIndex } from "../operation-metrics.ts";
import { createLogger, openChainClient, openMigratedDatabase, shutdownSignal } from "../process.ts";
import { accountPages } from "../serve/account-pages.ts";
import { alertPorts } from "../serve/alerts.ts";
import { attestPort, scoreSigner } from "../serve/attest.ts";
import { discoveryPorts } from "../serve/discovery.ts";
import { callGate, requestGate } from "../serve/gate.ts";
import { drainServer, SERVER_LIMITS, startHttpServer } from "../serve/http-server.ts";
import { keyPorts } from "../serve/keys.ts";
import { mapPorts } from "../serve/map.ts";
import { pagePorts } from "../serve/pages.ts";
import { paymentsFromConfig } from "../serve/payments.ts";
import { recoverPorts } from "../serve/recover.ts";
import { createReportReadings } from "../serve/report-readings.ts";
import { reportPorts } from "../serve/reports.ts";
import { riskPorts } from "../serve/risk.ts";
import { signInAudience, signInFromConfig } from "../serve/sign-in.ts";
import { receiptPorts, verdictPorts } from "../serve/verification.ts";
import { intakePorts } from "../serve/verification-intake.ts";
import { serveMetrics } from "../work/metrics-server.ts";

const INTERFACES: Readonly<Record<InterfaceName, ApiInterface<ApiPorts & VerificationPorts>>> = {
  scoring: SCORING_INTERFACE,
  verification: VERIFICATION_INTERFACE,
};

/** A settlement is waited for 20 s at most. */
const DRAIN = { finishMs: 10_000, settleMs: 20_000 };
/** URLs named by callers that one process visits at once. */
const MAX_VISITS = 16;
/** A caller waits meanwhile. */
const CALLER_RPC = { timeoutMs: 3_000, retries: 0 } as const;

/** `ahs serve`: the HTTP API until it is told to stop; requests under way are answered first. */
export async function serveApi({ config }: Invocation): Promise<void> {
  const { deploymentFile } = requireIndexSettings(config);
  const logger = createLogger(config, "serve");
  const signal = shutdownSignal();
  const deployment = loadDeployment(deploymentFile);
  const signer = await scoreSigner(config, deployment.chainId);
  const db = await openMigratedDatabase(config, "ahs-serve", logger);
  await requireSanctionsSource(db, deployment);
  const history = historyReaderFromConfig(config, deployment.chainId);
  const life = createServerLife();
  const parts = { db, logger, history, life, signer };
  const ports = { ...portsOf(config, parts), ...(await receiptPorts(config)) };
  const app = createInterfaceApp(
    ports,
    config.interfaces.map((name) => INTERFACES[name]),
  );
  serveMetrics(ports.registry, config, signal);
  const server = await startHttpServer(app.fetch, config, SERVER_LIMITS);
  logger.info({ host: config.host, port: config.port }, "serving");
  if (!signal.aborted) await once(signal, "abort");
  await drainServer(server, life, DRAIN);
  await history?.close();
  await db.$client.end();
}

type Parts = {
  readonly db: Database;
  readonly logger: Logger;
  /** Null where no history source is configured. */
  readonly history: HistoryReader | null;
  readonly life: ServerLife;
  /** Null where no scores are served. */
  readonly signer: LocalAccount | null;
};

function portsOf(config: Config, { db, logger, history, life, signer }: Parts) {
  const { deploymentFile } = requireIndexSettings(config);
  const deployment = loadDeployment(deploymentFile);
  const { chainId, oracle } = deployment;
  const now = () => new Date();
  const clock = { now, monotonicMs: () => performance.now() };
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addBuildInfo(registry, "serve");
  watchIndex(registry, { db, deployment, logger, now });
  const sanctionsSources = createSourceWatch({ ...clock, read: () => readSanctionsSources(db, deployment) });
  watchSanctionsSources(registry, { sources: sanctionsSources, now, logger });
  const scoring = {
    db,
    chainId,
    chain: deployment,
    policy: AHS_2026_1,
    publishPolicy: defaultPublishPolicy,
    now,
  };
  const keyAccess = createApiKeyAccess({
    keys: { find: apiKeyFinder(db), ...createKeyDebits({ db, now, randomUuid: randomUUID }) },
    clock,
    logger,
  });
  const signIn = signInFromConfig(config, { db, chainId, clock });
  const payments = paymentsFromConfig(config, { db, deployment, registry, logger, clock, signIn });
  const scores = createScoreReader(db, chainId);
  const gate = callGate({ db, logger, clock });
  const readings = createReportReadings(clock.monotonicMs);
  const reports = reportPorts(scoring, readings);
  const visitor = createUrlVisitor({
    guard: guardFromConfig(config, chainId),
    monotonicMs: clock.monotonicMs,
    maxAtOnce: MAX_VISITS,
  });
  const requests = requestGate(config, clock, life);
  const head = () => scores.head();
  const verdicts = verdictPorts(config, { db, chainId, logger, clock, head, keys: keyAccess, gate });
  const ofPages = { db, chainId, clock, logger, scores, sanctionsSources };
  return {
    access: createAccess({ keys: keyAccess, payments: payments?.access ?? null, ...gate }),
    clock,
    logger,
    randomId: randomUUID,
    registry,
    metricsPage: config.metricsPort === null ? ("loopback" as const) : ("elsewhere" as const),
    allowedOrigins: "*" as const,
    ...requests,
    scores,
    ...intakePorts(config, { db, deployment, logger, clock }),
    ...verdicts,
    ...keyPorts({ db, keyAccess, gate, signIn, audience: signInAudience(config, chainId) }),
    ...reports,
    ...mapPorts({ db, deployment, policy: scoring.policy, readings, monotonicMs: clock.monotonicMs }),
    ...alertPorts(scoring, gate.limiter),
    ...recoverPorts({ db, deployment, rpcUrl: config.rpcUrl, monotonicMs: clock.monotonicMs }),
    ...riskPorts(config, { ...scoring, deployment, clock, logger, readWallet: reports.readWallet }),
    ...pagePorts(
      { ...ofPages, deployment, monotonicMs: clock.monotonicMs },
      accountPages(config, { ...ofPages, ...requests, ...verdicts, sellsKeys: payments !== null }),
    ),
    ...discoveryPorts(config, { db, deployment, paymentTerms: payments?.accepts ?? null }),
    scoreNow: (address: Address) => scoreNow(scoring, address),
    scoreOnDemand: onDemand({ ...scoring, history, logger }, config.rpcUrl),
    attest: attestPort(signer, { chainId, address: oracle.address }),
    oracle: getAddress(oracle.address),
    policy: scoring.policy,
    infrastructure: {
      ...createInfrastructureReader(db, chainId),
      ...visitor,
    },
    refuseUrl: visitor.refusal,
    recordInterest: createInterestRecorder(db, chainId, now),
    maxIndexAgeSeconds: config.maxIndexAgeSeconds,
    sanctionsSources,
    inputFile: (hash: string) => readInputFile(db, hash),
    epochList: createEpochLists({
      root: (number) => readEpochRoot(db, chainId, number),
      stored: (number) => readEpoch(db, chainId, number),
    }),
  };
}

/** Null where no history source is configured; with a node, the sanctions contract is asked about whom nobody asked it before. */
function onDemand(
  context: Omit<OnDemandContext, "history"> & { readonly history: HistoryReader | null } & {
    readonly chain: Deployment;
  },
  rpcUrl: string | null,
) {
  const { history, chain } = context;
  if (history === null) return null;
  const score = (address: Address) => scoreOnDemand({ ...context, history }, address);
  if (rpcUrl === null || chain.sanctionsList === null) return score;
  const client = openChainClient(rpcUrl, CALLER_RPC);
  return askingFirst(
    { ...context, contract: createSanctionsContract(client, chain.sanctionsList.address) },
    score,
  );
}
