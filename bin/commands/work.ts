import { returnExpiredHolds } from "../../service/access/key-debits.ts";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { requireSanctionsSource } from "../../service/sanctions/sources.ts";
import { createSenderMetrics } from "../../service/sender/send-metrics.ts";
import type { Invocation } from "../command.ts";
import { requireChainSettings } from "../config.ts";
import { openAccounts } from "../keys/open-accounts.ts";
import { createLogger, openMigratedDatabase, shutdownSignal } from "../process.ts";
import { scoringFromConfig } from "../scoring-from-config.ts";
import { deliverAlerts } from "../work/alerts.ts";
import { runSettlements } from "../work/escrow.ts";
import { exitWithChain } from "../work/exit-with-chain.ts";
import { runPanelWork } from "../work/panel.ts";
import { runPayments } from "../work/payments.ts";
import { runPublishing } from "../work/publishing.ts";
import { repeat } from "../work/repeat.ts";
import { askSanctionsContract } from "../work/sanctions.ts";
import { runScans } from "../work/scans.ts";
import { runScores } from "../work/scores.ts";
import { sweepRequests } from "../work/sweeps.ts";
import { sweepVerification } from "../work/verification-sweeps.ts";
import { workerMetrics } from "../work/worker-metrics.ts";

const HOLDS_PAUSE_MS = 30_000;
const SWEEP_PAUSE_MS = 300_000;
/** A worker without the other keys leaves their work to those that have them. */
const WORKER_ROLES = {
  required: ["publisher"],
  optional: ["facilitator", "verdictSigner", "relayer"],
} as const;

/** `ahs work`: scores, publishes, sends and runs the nightly jobs until it is told to stop. */
export async function work({ config }: Invocation): Promise<void> {
  const { rpcUrl, deploymentFile } = requireChainSettings(config);
  const logger = createLogger(config, "work");
  const deployment = loadDeployment(deploymentFile);
  const { chainId } = deployment;
  const signal = shutdownSignal();
  const accounts = await openAccounts(config, WORKER_ROLES, { chainId });
  const { publisher } = accounts;
  const db = await openMigratedDatabase(config, "ahs-work", logger);
  await requireSanctionsSource(db, deployment);
  const scoring = scoringFromConfig({ config, deployment, db, logger });
  const common = { db, logger, now: scoring.now };
  const registry = workerMetrics(config, { deployment, ...common }, signal);
  const senderMetrics = createSenderMetrics(registry);
  const parts = { config, deployment, registry, ...common };
  const sending = { ...parts, senderMetrics, accounts };
  await Promise.all([
    runScores({ config, deployment, registry, scoring }, signal),
    askSanctionsContract({ rpcUrl, deployment, registry, ...common }, signal),
    runPublishing({ ...sending, publisher, policy: scoring.publishPolicy }, signal),
    runPayments(sending, signal),
    runSettlements(sending, signal),
    deliverAlerts({ config, chainId, registry, ...common }, signal),
    runPanelWork({ config, chainId, registry, ...common }, signal),
    runScans({ config, deployment, registry, rpcUrl, scoring, publisher: publisher.address }, signal),
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
