import type { Registry } from "prom-client";
import { createPaymentGauge, createPaymentMetrics } from "../../service/access/payments/metrics.ts";
import { createPaymentChain } from "../../service/access/payments/payment-chain.ts";
import { runReconciliation } from "../../service/access/payments/run-reconciliation.ts";
import type { Database } from "../../service/db/database.ts";
import { whileLeader } from "../../service/db/leader-lock.ts";
import { requireChainSettings } from "../config.ts";
import { openChainClient } from "../process.ts";
import { type SendingParts, sendForRole } from "./send-for-role.ts";

type Parts = SendingParts & {
  readonly db: Database;
  readonly registry: Registry;
};

/**
 * Sends what the facilitator has to, where this process has its key, and compares payments with the chain; the latter also
 * where none are taken any more, since some may be left.
 */
export async function runPayments(parts: Parts, signal: AbortSignal): Promise<void> {
  await Promise.all([sendForFacilitator(parts, signal), reconcile(parts, signal)]);
}

async function sendForFacilitator(parts: Parts, signal: AbortSignal): Promise<void> {
  const { facilitator } = parts.accounts;
  if (facilitator !== undefined) await sendForRole(parts, facilitator, signal);
}

async function reconcile(parts: Parts, signal: AbortSignal): Promise<void> {
  const { config, deployment, db, registry, logger, now } = parts;
  const { chainId, finalityBlocks } = deployment;
  const held = createPaymentGauge(registry);
  const deps = {
    db,
    chainId,
    chain: createPaymentChain(openChainClient(requireChainSettings(config).rpcUrl), finalityBlocks),
    ownSender: config.payments.facilitatorUrl === null,
    metrics: createPaymentMetrics(registry),
    logger,
    now,
  };
  await whileLeader({ db, name: "ahs-payments", chainId, logger, metrics: { held }, signal }, (led) =>
    runReconciliation(deps, held, led),
  );
}
