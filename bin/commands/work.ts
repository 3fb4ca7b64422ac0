import { returnExpiredHolds } from "../../service/access/key-debits.ts";
import { createAlertMetrics } from "../../service/alerts/metrics.ts";
import { runAlerts } from "../../service/alerts/run-alerts.ts";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { createGuardedFetch } from "../../service/net/guarded-fetch.ts";
import { requireSanctionsSource } from "../../service/sanctions/sources.ts";
import { createSenderMetrics } from "../../service/sender/send-metrics.ts";
import { readReleasedMoney } from "../../service/verification/escrow/released-money.ts";
import type { RunOneDeps } from "../../service/verification/verdicts/run-one.ts";
import { type Invocation, requireChainSettings } from "../config.ts";
import { guardFromConfig, scoringFromConfig } from "../from-config.ts";
import { openAccounts } from "../keys/open-accounts.ts";
import { workerMetrics } from "../metrics.ts";
import {
  createLogger,
  openChainClient,
  openMigratedDatabase,
  shutdownSignal,
  warnOfPlainTexts,
} from "../process.ts";
import { runScans } from "../work/nightly.ts";
import { askSanctionsContract, runScores } from "../work/scores.ts";
import { runPayments, runPublishing } from "../work/sending.ts";
import { exitWithChain, repeat, sweepRequests, type WorkerParts } from "../work/upkeep.ts";
import { runPanelWork, runSettlements, sweepVerification } from "../work/verification.ts";

const HOLDS_PAUSE_MS = 30_000;
const SWEEP_PAUSE_MS = 300_000;
/** A worker without an optional key leaves that work to workers that have it. */
const WORKER_ROLES = {
  required: ["publisher"],
  optional: ["facilitator", "verdictSigner", "relayer"],
} as const;

/** `ahs work`: scores, publishes, sends and runs the nightly jobs until a signal stops it. */
export async function work({ config }: Invocation): Promise<void> {
  const { rpcUrl, deploymentFile } = requireChainSettings(config);
  const logger = createLogger(config, "work");
  const deployment = loadDeployment(deploymentFile);
  const { chainId } = deployment;
  const signal = shutdownSignal();
  const accounts = await openAccounts(config, WORKER_ROLES, { chainId });
  const { publisher } = accounts;
  warnOfPlainTexts(config, logger);
  const { db, clock } = await openMigratedDatabase(config, "ahs-work", { logger, signal });
  await requireSanctionsSource(db, deployment);
  const common = { db, logger, now: clock.now };
  const scoring = scoringFromConfig({ config, deployment, ...common });
  const registry = workerMetrics(config, { deployment, db, logger, clock }, signal);
  const senderMetrics = createSenderMetrics(registry);
  const parts = { config, deployment, registry, ...common };
  const client = openChainClient(rpcUrl);
  const readReleased: RunOneDeps["readReleased"] = (job) => readReleasedMoney({ ...parts, client }, job);
  const sending = { ...parts, senderMetrics, accounts };
  await Promise.all([
    runScores({ config, deployment, registry, scoring }, signal),
    askSanctionsContract({ rpcUrl, deployment, registry, ...common }, signal),
    runPublishing({ ...sending, publisher, policy: scoring.publishPolicy }, signal),
    runPayments(sending, signal),
    runSettlements(sending, signal),
    deliverAlerts({ config, chainId, registry, ...common }, signal),
    runPanelWork({ ...parts, chainId, readReleased }, signal),
    runScans({ config, deployment, registry, rpcUrl, scoring, publisher: publisher.address }, signal),
    repeat({ ...common, pauseMs: HOLDS_PAUSE_MS, what: "returning abandoned debits" }, signal, () =>
      returnExpiredHolds(db, clock.now()),
    ),
    repeat({ ...common, pauseMs: SWEEP_PAUSE_MS, what: "sweeping what expired" }, signal, () =>
      sweepRequests(db, clock.now()),
    ),
    sweepVerification({ ...common, chainId, retentionDays: config.retentionDays }, signal),
    exitWithChain(db, { chainId, logger, signal }),
  ]);
  await db.$client.end();
}

/** Delivers webhooks until the signal fires. */
function deliverAlerts(
  work: Omit<WorkerParts, "deployment"> & { readonly chainId: number },
  signal: AbortSignal,
): Promise<void> {
  return runAlerts(
    {
      ...work,
      fetch: createGuardedFetch(guardFromConfig(work.config, work.chainId)),
      metrics: createAlertMetrics(work.registry),
      monotonicMs: () => performance.now(),
      random: Math.random,
    },
    signal,
  );
}
