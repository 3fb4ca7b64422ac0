import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { Address } from "viem";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { type Deployment, loadDeployment } from "../../service/chain/deployments.ts";
import { createSenderMetrics } from "../../service/chain/send-metrics.ts";
import { senderPolicy } from "../../service/chain/send-policy.ts";
import { createSenderRpc } from "../../service/chain/send-rpc.ts";
import { runSender } from "../../service/chain/sender-loop.ts";
import { createEnrichMetrics } from "../../service/enrich/metrics.ts";
import { runEnrich } from "../../service/enrich/run-enrich.ts";
import { createEnrolmentMetrics, runEnrolments } from "../../service/history/run-enrolments.ts";
import { createGuardedFetch } from "../../service/net/guarded-fetch.ts";
import { createPublishMetrics } from "../../service/publish/metrics.ts";
import { defaultPublishPolicy, type PublishPolicy } from "../../service/publish/policy.ts";
import { runPublisher } from "../../service/publish/publisher.ts";
import { closeGaps } from "../../service/record/close-gaps.ts";
import { createFactPatience } from "../../service/record/fact-patience.ts";
import {
  type ScoringRunContext,
  scoreDueWallets,
  scoreOvertakenWallets,
} from "../../service/record/run-scoring.ts";
import { runAsking } from "../../service/sanctions/ask-contract.ts";
import { createSanctionsContract } from "../../service/sanctions/contract.ts";
import { createReadingMetrics, watchSanctionsSources } from "../../service/sanctions/metrics.ts";
import { createSourceWatch } from "../../service/sanctions/source-watch.ts";
import { readSanctionsSources } from "../../service/sanctions/sources.ts";
import { createScanMetrics } from "../../service/scan/metrics.ts";
import { runScan, type ScanDeps } from "../../service/scan/run-scan.ts";
import { AHS_2026_1 } from "../../service/score/policy.ts";
import type { Database } from "../../service/store/database.ts";
import { returnExpiredHolds } from "../../service/store/key-debits.ts";
import { whileLeader } from "../../service/store/leader-lock.ts";
import { accountFromConfig } from "../account-from-config.ts";
import type { Invocation } from "../ahs.ts";
import { type Config, publicUrl, requireChainSettings } from "../config.ts";
import { factSourceFromConfig } from "../facts-from-config.ts";
import { guardFromConfig } from "../guard-from-config.ts";
import { historyReaderFromConfig } from "../history-from-config.ts";
import { createLogger, openChainClient, openMigratedDatabase, shutdownSignal } from "../process.ts";
import { deliverAlerts } from "../work/alerts.ts";
import { runSettlements } from "../work/escrow.ts";
import { exitWithChain } from "../work/exit-with-chain.ts";
import { serveMetrics } from "../work/metrics-server.ts";
import { runNightly } from "../work/nightly.ts";
import { runPanelWork } from "../work/panel.ts";
import { runPayments } from "../work/payments.ts";
import { repeat } from "../work/repeat.ts";
import { sweepRequests } from "../work/sweeps.ts";
import { sweepVerification } from "../work/verification-sweeps.ts";

const SCORING_PAUSE_MS = 1_000;
const OVERTAKEN_PAUSE_MS = 60_000;
const HOLDS_PAUSE_MS = 30_000;
const SWEEP_PAUSE_MS = 300_000;
const PUBLISH_PAUSE_MS = 1_000;
const ENROL_PAUSE_MS = 1_000;
const GAPS_PAUSE_MS = 2_000;
const SENDER_RPC = { timeoutMs: 10_000, retries: 2 };

/** `ahs work`: scores, publishes, sends and runs the nightly jobs until it is told to stop. */
export async function work({ config }: Invocation): Promise<void> {
  const settings = requireChainSettings(config);
  const logger = createLogger(config, "work");
  const deployment = loadDeployment(settings.deploymentFile);
  const { chainId } = deployment;
  const signal = shutdownSignal();
  const db = await openMigratedDatabase(config, "ahs-work", logger);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  if (config.metricsPort !== null) serveMetrics(registry, config.metricsPort, signal);

  const scoring = scoringContext({ config, deployment, db, logger });
  const publisher = accountFromConfig(config, chainId, "PUBLISHER_PRIVATE_KEY");
  const target = { chainId, oracle: deployment.oracle.address, sender: publisher.address };
  const common = { db, logger, now: scoring.now };
  const enrichMetrics = createEnrichMetrics(registry);
  const enriching = { rpcUrl: settings.rpcUrl, factSource: factSourceFromConfig(config, deployment) };
  const scan = scanContext({ config, chainId, registry, ...common });
  const readingMetrics = createReadingMetrics(registry);
  const senderMetrics = createSenderMetrics(registry);
  const sanctionsContract = createSanctionsContract(
    openChainClient(settings.rpcUrl),
    deployment.sanctionsList.address,
  );
  watchSanctionsSources(registry, {
    sources: createSourceWatch({
      read: () => readSanctionsSources(db, chainId),
      monotonicMs: () => performance.now(),
    }),
    ...common,
  });
  await Promise.all([
    whileLeader({ db, name: "ahs-scoring", chainId, logger, signal }, (led) => runScoring(scoring, led)),
    whileLeader({ db, name: "ahs-scan", chainId, logger, signal }, (led) => runScan(scan, led)),
    whileLeader({ db, name: "ahs-enrich", chainId, logger, signal }, (led) =>
      runEnrich({ db, deployment, ...enriching, metrics: enrichMetrics, logger }, led),
    ),
    whileLeader({ db, name: "ahs-sanctions", chainId, logger, signal }, (led) =>
      runAsking({ ...common, chainId, contract: sanctionsContract, metrics: readingMetrics }, led),
    ),
    runPublisher(
      {
        ...target,
        ...common,
        policy: scoring.publishPolicy,
        metrics: createPublishMetrics(registry),
        pollMs: PUBLISH_PAUSE_MS,
      },
      signal,
    ),
    runEnrolments(
      {
        ...target,
        ...common,
        finalityBlocks: deployment.finalityBlocks,
        readFee: () => readRequestFee(settings.rpcUrl, deployment.oracle.address),
        policy: { ...config.enrolment, ...ENROLMENT_PACE },
        metrics: createEnrolmentMetrics(registry),
        pollMs: ENROL_PAUSE_MS,
      },
      signal,
    ),
    closeHistories({ config, scoring }, signal),
    runPayments({ config, deployment, registry, senderMetrics, ...common }, signal),
    runSettlements({ config, deployment, registry, senderMetrics, ...common }, signal),
    deliverAlerts({ config, chainId, registry, ...common }, signal),
    runPanelWork({ config, chainId, registry, ...common }, signal),
    runSender(
      {
        chainId,
        account: publisher,
        rpc: createSenderRpc({ url: settings.rpcUrl, ...SENDER_RPC }),
        policy: senderPolicy(deployment),
        metrics: senderMetrics,
        logger,
        now: scoring.now,
        databaseUrl: settings.databaseUrl,
      },
      signal,
    ),
    runNightly(
      {
        scoring,
        root: { ...target, uriOf: (epoch) => `${publicUrl(config)}/epochs/${epoch}` },
        databaseUrl: settings.databaseUrl,
        logger,
      },
      signal,
    ),
    repeat({ ...common, pauseMs: HOLDS_PAUSE_MS, what: "returning abandoned debits" }, signal, async () => {
      await returnExpiredHolds(db, scoring.now());
    }),
    repeat({ ...common, pauseMs: SWEEP_PAUSE_MS, what: "sweeping what expired" }, signal, () =>
      sweepRequests(db, scoring.now()),
    ),
    sweepVerification({ ...common, chainId, retentionDays: config.retentionDays }, signal),
    exitWithChain(db, { chainId, logger, signal }),
  ]);
  await db.$client.end();
}

/** Requests go out a few at a time, and a refused one is tried again after a minute, later after up to six hours. */
const ENROLMENT_PACE = { retryMs: { first: 60_000, longest: 21_600_000 }, batch: 10 } as const;

function readRequestFee(rpcUrl: string, oracle: Address): Promise<bigint> {
  const contract = { address: oracle, abi: agentHealthOracleAbi } as const;
  return openChainClient(rpcUrl).readContract({ ...contract, functionName: "requestFee" });
}

/** Where a history source is configured, has it tell what it has not told of wallets that are followed by now. */
async function closeHistories(
  { config, scoring }: { readonly config: Config; readonly scoring: ScoringRunContext },
  signal: AbortSignal,
): Promise<void> {
  const { db, chainId, logger } = scoring;
  const history = historyReaderFromConfig(config, chainId);
  if (history === null) return;
  // What is being read must not keep the process from ending.
  signal.addEventListener("abort", () => void history.close(), { once: true });
  const gaps = { logger, pauseMs: GAPS_PAUSE_MS, what: "completing histories" };
  await whileLeader({ db, name: "ahs-history", chainId, logger, signal }, (led) =>
    repeat(gaps, led, async () => {
      await closeGaps({ ...scoring, history });
    }),
  );
}

function scoringContext(from: {
  config: Config;
  deployment: Deployment;
  db: Database;
  logger: Logger;
}): ScoringRunContext {
  return {
    db: from.db,
    chainId: from.deployment.chainId,
    chain: from.deployment,
    policy: AHS_2026_1,
    publishPolicy: publishPolicyOf(from.config),
    now: () => new Date(),
    rescoreIntervalSeconds: from.config.rescoreIntervalSeconds,
    logger: from.logger,
  };
}

function scanContext({
  config,
  registry,
  ...common
}: {
  config: Config;
  chainId: number;
  registry: Registry;
  db: Database;
  logger: Logger;
  now: () => Date;
}): ScanDeps {
  return {
    ...common,
    fetch: createGuardedFetch(guardFromConfig(config, common.chainId)),
    metrics: createScanMetrics(registry),
    monotonicMs: () => performance.now(),
    random: Math.random,
  };
}

function publishPolicyOf({ dailyGas }: Config): PublishPolicy {
  return dailyGas === null ? defaultPublishPolicy : { ...defaultPublishPolicy, dailyGas };
}

async function runScoring(scoring: ScoringRunContext, signal: AbortSignal): Promise<void> {
  const { logger } = scoring;
  const patience = createFactPatience(() => performance.now());
  const late = { logger, pauseMs: OVERTAKEN_PAUSE_MS, what: "scoring what came late" };
  await Promise.all([
    repeat({ logger, pauseMs: SCORING_PAUSE_MS, what: "scoring" }, signal, async () => {
      await scoreDueWallets(scoring, patience);
    }),
    repeat(late, signal, async () => {
      await scoreOvertakenWallets(scoring);
    }),
  ]);
}
