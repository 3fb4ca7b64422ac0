import type { Registry } from "prom-client";
import type { Address } from "viem";
import { tellOfVerdict } from "../../service/alerts/verdict-events.ts";
import type { AskRerun, TellReviewDue } from "../../service/escrow/escrow-deps.ts";
import { createEscrowMetrics } from "../../service/escrow/metrics.ts";
import { runEscrow } from "../../service/escrow/run-escrow.ts";
import type { Database } from "../../service/store/database.ts";
import { whileLeader } from "../../service/store/leader-lock.ts";
import { askRerun } from "../../service/store/verdict-reruns.ts";
import { accountFromConfig } from "../account-from-config.ts";
import { requireChainSettings } from "../config.ts";
import { openChainClient } from "../process.ts";
import { type SendingParts, sendForRole } from "./send-for-role.ts";

type Parts = SendingParts & { readonly db: Database; readonly registry: Registry };

/**
 * Settles verdicts of bound jobs and sends for the relayer, where the chain has an evaluator and this process both keys;
 * returns at once where it has not.
 */
export async function runSettlements(parts: Parts, signal: AbortSignal): Promise<void> {
  const { config, deployment, logger } = parts;
  const { verdictEvaluator, chainId } = deployment;
  if (verdictEvaluator === null) return;
  if (config.verdictSignerKey === null || config.relayerKey === null) {
    logger.info(
      "verdicts are not settled here: VERDICT_SIGNER_PRIVATE_KEY and RELAYER_PRIVATE_KEY are not both set",
    );
    return;
  }
  const relayer = accountFromConfig(config, chainId, "RELAYER_PRIVATE_KEY");
  await Promise.all([
    settle(parts, { evaluator: verdictEvaluator.address, relayer: relayer.address }, signal),
    sendForRole(parts, "RELAYER_PRIVATE_KEY", signal),
  ]);
}

async function settle(
  { config, deployment, db, registry, logger, now }: Parts,
  target: { readonly evaluator: Address; readonly relayer: Address },
  signal: AbortSignal,
): Promise<void> {
  const { chainId } = deployment;
  const deps = {
    db,
    deployment,
    ...target,
    client: openChainClient(requireChainSettings(config).rpcUrl),
    signer: accountFromConfig(config, chainId, "VERDICT_SIGNER_PRIVATE_KEY"),
    askRerun: askNearExpiry,
    tellReviewDue: tellReview,
    metrics: createEscrowMetrics(registry),
    logger,
    now,
  };
  await whileLeader({ db, name: "ahs-escrow", chainId, logger, signal }, (led) => runEscrow(deps, led));
}

const askNearExpiry: AskRerun = async (tx, { verdictId, at }) => {
  const outcome = await askRerun(tx, { verdictId, cause: "near_expiry", at });
  return outcome === "asked" || outcome === "busy" ? outcome : "over";
};

const tellReview: TellReviewDue = (tx, clock, at) => {
  const { chainId, escrow, jobId } = clock.job;
  const { verdictId, reviewBy, expiresAt } = clock;
  // Typed when the job was bound; text columns forget it.
  const job = { chainId, escrow: escrow as Address, jobId };
  return tellOfVerdict(tx, { kind: "review_due", ...job, reviewBy, expiresAt }, { verdictId, at });
};
