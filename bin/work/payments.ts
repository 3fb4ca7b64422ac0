import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { SenderMetrics } from "../../service/chain/send-metrics.ts";
import { senderPolicy } from "../../service/chain/send-policy.ts";
import { createSenderRpc } from "../../service/chain/send-rpc.ts";
import { runSender } from "../../service/chain/sender-loop.ts";
import { createPaymentMetrics } from "../../service/payments/metrics.ts";
import { createPaymentChain } from "../../service/payments/payment-chain.ts";
import { runReconciliation } from "../../service/payments/run-reconciliation.ts";
import type { Database } from "../../service/store/database.ts";
import { whileLeader } from "../../service/store/leader-lock.ts";
import { accountFromConfig } from "../account-from-config.ts";
import { type Config, requireChainSettings } from "../config.ts";
import { openChainClient } from "../process.ts";

type Parts = {
  readonly config: Config;
  readonly deployment: Deployment;
  readonly db: Database;
  readonly registry: Registry;
  /** Shared with the other senders: names in a registry are unique. */
  readonly senderMetrics: SenderMetrics;
  readonly logger: Logger;
  readonly now: () => Date;
};

const SENDER_RPC = { timeoutMs: 10_000, retries: 2 };

/**
 * Sends what the facilitator has to, where this process has its key, and compares payments with the chain; the latter also
 * where none are taken any more, since some may be left.
 */
export async function runPayments(parts: Parts, signal: AbortSignal): Promise<void> {
  await Promise.all([sendForFacilitator(parts, signal), reconcile(parts, signal)]);
}

async function sendForFacilitator(parts: Parts, signal: AbortSignal): Promise<void> {
  const { config, deployment, logger, now, senderMetrics } = parts;
  if (config.facilitatorKey === null) return;
  const { rpcUrl, databaseUrl } = requireChainSettings(config);
  await runSender(
    {
      chainId: deployment.chainId,
      account: accountFromConfig(config, deployment.chainId, "FACILITATOR_PRIVATE_KEY"),
      rpc: createSenderRpc({ url: rpcUrl, ...SENDER_RPC }),
      policy: senderPolicy(deployment),
      metrics: senderMetrics,
      logger,
      now,
      databaseUrl,
    },
    signal,
  );
}

async function reconcile(parts: Parts, signal: AbortSignal): Promise<void> {
  const { config, deployment, db, registry, logger, now } = parts;
  const { chainId, finalityBlocks } = deployment;
  const deps = {
    db,
    chainId,
    chain: createPaymentChain(openChainClient(requireChainSettings(config).rpcUrl), finalityBlocks),
    ownSender: config.payments.facilitatorUrl === null,
    metrics: createPaymentMetrics(registry),
    logger,
    now,
  };
  await whileLeader({ db, name: "ahs-payments", chainId, logger, signal }, (led) =>
    runReconciliation(deps, registry, led),
  );
}
