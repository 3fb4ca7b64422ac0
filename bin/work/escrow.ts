import type { Registry } from "prom-client";
import type { Address } from "viem";
import type { Database } from "../../service/db/database.ts";
import { whileLeader } from "../../service/db/leader-lock.ts";
import type { AskRerun, EscrowDeps, TellReviewDue } from "../../service/verification/escrow/escrow-deps.ts";
import { createEscrowMetrics } from "../../service/verification/escrow/metrics.ts";
import { runEscrow } from "../../service/verification/escrow/run-escrow.ts";
import { readSignatureDeadline } from "../../service/verification/escrow/settlements.ts";
import { tellOfVerdict } from "../../service/verification/verdicts/verdict-events.ts";
import { askRerun } from "../../service/verification/verdicts/verdict-reruns.ts";
import { requireChainSettings } from "../config.ts";
import { formsOf } from "../keys/key-settings.ts";
import { openChainClient } from "../process.ts";
import { gasPriceFromConfig, maxGasPercent } from "../spending-from-config.ts";
import { type SendingParts, sendForRole } from "./send-for-role.ts";

type Parts = SendingParts & {
  readonly db: Database;
  readonly registry: Registry;
};

const SETTLING_ROLES = ["verdictSigner", "relayer"] as const;

/**
 * Settles verdicts of bound jobs and sends for the relayer, where the chain has an evaluator and this process both keys;
 * returns at once where it has not.
 */
export async function runSettlements(parts: Parts, signal: AbortSignal): Promise<void> {
  const { accounts, deployment, logger } = parts;
  const { verdictEvaluator } = deployment;
  if (verdictEvaluator === null) return;
  const { verdictSigner: signer, relayer } = accounts;
  if (signer === undefined || relayer === undefined) {
    const missing = SETTLING_ROLES.filter((role) => accounts[role] === undefined);
    const forms = missing.map(formsOf);
    logger.info(`verdicts are not settled here: missing settings: ${forms.join("; ")}`);
    return;
  }
  const target = { evaluator: verdictEvaluator.address, signer, relayer: relayer.address };
  const sending = { ...parts, ...patience(parts) };
  await Promise.all([settle(parts, target, signal), sendForRole(sending, relayer, signal)]);
}

/** What a verdict is sold for, in millionths of a US dollar. */
const VERDICT_MICRO_USD = 500_000n;
/** Before a signature ends, its verdict is sent whatever it costs: as long as a signature and its transaction take at most. */
const LAST_HOUR_MS = 3_600_000;

/** Verdicts that cost more to send than their share of their price wait, until the last hour of their signature. */
function patience({ config, deployment, db, logger, now }: Parts): Pick<SendingParts, "tooDear"> {
  const maxPercent = maxGasPercent(config, deployment, "verdict");
  if (maxPercent === null) return {};
  const client = openChainClient(requireChainSettings(config).rpcUrl);
  const gasPrice = gasPriceFromConfig(config, deployment, client, now);
  return {
    async tooDear({ id, purpose }, gas) {
      if (purpose !== "settle" && purpose !== "hold") return null;
      const cost = await gasPrice.microUsd(gas);
      if (cost * 100n <= VERDICT_MICRO_USD * BigInt(maxPercent)) return null;
      const deadline = await readSignatureDeadline(db, id);
      const leftMs = deadline === null ? 0 : deadline * 1_000 - now().getTime();
      const details = { transaction: id, purpose, gas: `${gas}`, cost_micro_usd: `${cost}`, left_ms: leftMs };
      if (leftMs > LAST_HOUR_MS)
        return `it costs ${cost} millionths of a US dollar, and waits for lower fees`;
      logger.warn(details, "verdict sent at more than its share, since its signature is about to end");
      return null;
    },
  };
}

async function settle(
  { config, deployment, db, registry, logger, now }: Parts,
  target: Pick<EscrowDeps, "evaluator" | "signer" | "relayer">,
  signal: AbortSignal,
): Promise<void> {
  const { chainId } = deployment;
  const deps = {
    db,
    deployment,
    ...target,
    client: openChainClient(requireChainSettings(config).rpcUrl),
    askRerun: askNearExpiry,
    tellReviewDue: tellReview,
    metrics: createEscrowMetrics(registry),
    logger,
    now,
  };
  const { metrics } = deps;
  await whileLeader({ db, name: "ahs-escrow", chainId, logger, metrics, signal }, (led) =>
    runEscrow(deps, led),
  );
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
