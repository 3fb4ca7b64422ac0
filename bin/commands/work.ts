import { collectDefaultMetrics, Registry } from "prom-client";
import type { Address } from "viem";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { createSenderMetrics } from "../../service/chain/send-metrics.ts";
import { createEnrichMetrics } from "../../service/enrich/metrics.ts";
import { runEnrich } from "../../service/enrich/run-enrich.ts";
import { createEnrolmentMetrics, runEnrolments } from "../../service/history/run-enrolments.ts";
import { createPublishMetrics } from "../../service/publish/metrics.ts";
import { runPublisher } from "../../service/publish/publisher.ts";
import { closeGaps } from "../../service/record/close-gaps.ts";
import { createFactPatience } from "../../service/record/fact-patience.ts";
import {
  type ScoringRunContext,
  scoreDueWallets,
  scoreOvertakenWallets,
} from "../../service/record/run-scoring.ts";
import { watchSanctionsSources } from "../../service/sanctions/metrics.ts";
import { createSourceWatch } from "../../service/sanctions/source-watch.ts";
import { readSanctionsSources, requireSanctionsSource } from "../../service/sanctions/sources.ts";
import { returnExpiredHolds } from "../../service/store/key-debits.ts";
import { whileLeader } from "../../service/store/leader-lock.ts";
import type { Invocation } from "../ahs.ts";
import { type Config, requireChainSettings } from "../config.ts";
import { factSourceFromConfig } from "../facts-from-config.ts";
import { historyReaderFromConfig } from "../history-from-config.ts";
import { openAccounts } from "../keys/open-accounts.ts";
import { addBuildInfo, watchIndex, watchScores } from "../operation-metrics.ts";
import { createLogger, openChainClient, openMigratedDatabase, shutdownSignal } from "../process.ts";
import { scoringFromConfig } from "../scoring-from-config.ts";
import { deliverAlerts } from "../work/alerts.ts";
import { runSettlements } from "../work/escrow.ts";
import { exitWithChain } from "../work/exit-with-chain.ts";
import { handOverFormerKeys } from "../work/hand-over.ts";
import { serveMetrics } from "../work/metrics-server.ts";
import { runPanelWork } from "../work/panel.ts";
import { runPayments } from "../work/payments.ts";
import { repeat } from "../work/repeat.ts";
import { askSanctionsContract } from "../work/sanctions.ts";
import { runScans } from "../work/scans.ts";
import { sendForRole } from "../work/send-for-role.ts";
import { sweepRequests } from "../work/sweeps.ts";
import { sweepVerification } from "../work/verification-sweeps.ts";

const SCORING_PAUSE_MS = 1_000;
const OVERTAKEN_PAUSE_MS = 60_000;
const HOLDS_PAUSE_MS = 30_000;
const SWEEP_PAUSE_MS = 300_000;
const PUBLISH_PAUSE_MS = 1_000;
const ENROL_PAUSE_MS = 1_000;
const GAPS_PAUSE_MS = 2_000;
/** A worker without the other keys leaves their work to those that have them. */
const WORKER_ROLES = {
  required: ["publisher"],
  optional: ["facilitator", "verdictSigner", "relayer"],
} as const;

/** `ahs work`: scores, publishes, sends and runs the nightly jobs until it is told to stop. */
export async function work({ config }: Invocation): Promise<void> {
  const settings = requireChainSettings(config);
  const logger = createLogger(config, "work");
  const deployment = loadDeployment(settings.deploymentFile);
  const { chainId } = deployment;
  const signal = shutdownSignal();
  const accounts = await openAccounts(config, WORKER_ROLES, { chainId });
  const db = await openMigratedDatabase(config, "ahs-work", logger);
  await requireSanctionsSource(db, deployment);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addBuildInfo(registry, "work");
  watchIndex(registry, { db, deployment, logger, now: () => new Date() });
  watchScores(registry, { db, deployment, logger, now: () => new Date() });
  serveMetrics(registry, config, signal);

  const scoring = scoringFromConfig({ config, deployment, db, logger });
  const { publisher } = accounts;
  const target = { chainId, oracle: deployment.oracle.address, sender: publisher.address };
  const common = { db, logger, now: scoring.now };
  const enrichMetrics = createEnrichMetrics(registry);
  const enriching = { rpcUrl: settings.rpcUrl, factSource: factSourceFromConfig(config, deployment) };
  const senderMetrics = createSenderMetrics(registry);
  watchSanctionsSources(registry, {
    sources: createSourceWatch({
      read: () => readSanctionsSources(db, deployment),
      monotonicMs: () => performance.now(),
    }),
    ...common,
  });
  await Promise.all([
    whileLeader({ db, name: "ahs-scoring", chainId, logger, signal }, (led) => runScoring(scoring, led)),
    whileLeader({ db, name: "ahs-enrich", chainId, logger, signal }, (led) =>
      runEnrich({ db, deployment, ...enriching, metrics: enrichMetrics, logger }, led),
    ),
    askSanctionsContract({ rpcUrl: settings.rpcUrl, deployment, registry, ...common }, signal),
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
    runPayments({ config, deployment, registry, senderMetrics, accounts, ...common }, signal),
    runSettlements({ config, deployment, registry, senderMetrics, accounts, ...common }, signal),
    deliverAlerts({ config, chainId, registry, ...common }, signal),
    runPanelWork({ config, chainId, registry, ...common }, signal),
    sendForRole({ config, deployment, senderMetrics, ...common }, publisher, signal),
    handOverFormerKeys({ config, deployment, senderMetrics, accounts, ...common }, signal),
    runScans(
      { config, deployment, registry, rpcUrl: settings.rpcUrl, scoring, publisher: publisher.address },
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
