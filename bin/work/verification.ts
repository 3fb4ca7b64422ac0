import { whileLeader } from "../../service/db/leader-lock.ts";
import { pauseFor } from "../../service/db/run-loop.ts";
import { readAppealUnits } from "../../service/verification/escrow/appeal-price.ts";
import type { EscrowDeps } from "../../service/verification/escrow/escrow-deps.ts";
import { runEscrow } from "../../service/verification/escrow/run-escrow.ts";
import { readSignatureDeadline } from "../../service/verification/escrow/settlements.ts";
import { createEscrowMetrics, createVerdictMetrics } from "../../service/verification/metrics.ts";
import type { AskDeps } from "../../service/verification/panel/ask-role.ts";
import { awaitTokenFinding, onceKnown } from "../../service/verification/panel/await-token-finding.ts";
import { largestRun, tokensOfCase } from "../../service/verification/panel/check-context.ts";
import { VERDICT_UNITS } from "../../service/verification/panel/run-cost.ts";
import { runPanel } from "../../service/verification/panel/run-panel.ts";
import { sweepAppeals } from "../../service/verification/verdicts/appeals.ts";
import { eraseRequested } from "../../service/verification/verdicts/erase-texts.ts";
import { askRerun } from "../../service/verification/verdicts/rerun-verdict.ts";
import type { RunOneDeps } from "../../service/verification/verdicts/run-one.ts";
import { runVerdicts } from "../../service/verification/verdicts/run-verdicts.ts";
import { settleIntake } from "../../service/verification/verdicts/settle-intake.ts";
import { notifyOfVerdict } from "../../service/verification/verdicts/verdict-events.ts";
import {
  dropOldTexts,
  dropUnusedSpecs,
  returnFinalFailures,
} from "../../service/verification/verdicts/verdict-sweeps.ts";
import { appealsOf } from "../appeal-settings.ts";
import { requireChainSettings } from "../config.ts";
import { gasPriceFromConfig, maxGasPercent } from "../from-config.ts";
import { formsOf } from "../keys/key-settings.ts";
import { configuredModels, createTokenSearch, panelsFromConfig } from "../panel-from-config.ts";
import { openChainClient } from "../process.ts";
import { type SendingParts, sendForRole } from "./sending.ts";
import { repeat, type WorkerParts } from "./upkeep.ts";

const SETTLING_ROLES = ["verdictSigner", "relayer"] as const;

/** Settles verdicts of bound jobs and sends for the relayer. Returns at once without an evaluator or one of the two keys. */
export async function runSettlements(parts: SendingParts, signal: AbortSignal): Promise<void> {
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
  const sending = { ...parts, ...feeLimit(parts) };
  await Promise.all([settle(parts, target, signal), sendForRole(sending, relayer, signal)]);
}

const VERDICT_MICRO_USD = BigInt(VERDICT_UNITS) * 1_000n;
/** In the last hour of its signature a verdict is sent at any cost: signing and sending take up to an hour. */
const LAST_HOUR_MS = 3_600_000;

/** A verdict that costs more to send than its share of the price waits until the last hour of its signature. */
function feeLimit({ config, deployment, db, logger, now }: SendingParts): Pick<SendingParts, "tooDear"> {
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
  { config, deployment, db, registry, logger, now }: SendingParts,
  target: Pick<EscrowDeps, "evaluator" | "signer" | "relayer">,
  signal: AbortSignal,
): Promise<void> {
  const { chainId } = deployment;
  const client = openChainClient(requireChainSettings(config).rpcUrl);
  // A process without a panel judges no appeal, so it opens no time for one.
  const appeals = config.panel === null ? null : appealsOf(config.appeals);
  const deps: EscrowDeps = {
    db,
    deployment,
    ...target,
    client,
    appealWindowSeconds: appeals?.windowSeconds ?? 0,
    readAppealUnits: async (decision) =>
      appeals && readAppealUnits({ db, client, deployment, now, ...appeals.panel.limits }, decision),
    askRerun: askNearExpiry,
    notifyReviewDue,
    metrics: createEscrowMetrics(registry),
    logger,
    now,
  };
  const { metrics } = deps;
  await whileLeader({ db, name: "ahs-escrow", chainId, logger, metrics, signal }, (led) =>
    runEscrow(deps, led),
  );
}

const askNearExpiry: EscrowDeps["askRerun"] = async (tx, { verdictId, at }) => {
  const outcome = await askRerun(tx, { verdictId, cause: "near_expiry", at });
  return outcome === "asked" || outcome === "busy" ? outcome : "over";
};

const notifyReviewDue: EscrowDeps["notifyReviewDue"] = (tx, { job, verdictId, reviewBy, expiresAt }, at) =>
  notifyOfVerdict(tx, { kind: "review_due", ...job, reviewBy, expiresAt }, { verdictId, at });

/** The runs of a dead worker are free again after `leaseMs`; a live worker renews its leases every `renewMs`. */
const LEASE = { leaseMs: 15_000, renewMs: 4_000 };
const PACE = { pollMs: 1_000, gaugesMs: 5_000 };
/** Longest time for which verdicts wait for the findings about the models; then their runs fail as in any outage. */
const FINDING_MS = 30_000;

/**
 * Runs the panel on due outputs until the signal fires. Any number of workers may run it. Returns at once if no model is
 * configured; throws if the models' base URL or key cannot be used safely.
 */
export async function runPanelWork(
  work: Omit<WorkerParts, "deployment"> & Pick<RunOneDeps, "chainId" | "readReleased">,
  signal: AbortSignal,
): Promise<void> {
  const { config, logger } = work;
  if (config.panel === null) {
    logger.info("outputs are not verified here: PANEL_BASE_URL and PANEL_MODEL are not set");
    return;
  }
  const { atOnce, tokensPerDay } = config.panel;
  const appeals = appealsOf(config.appeals);
  const panels = appeals === null ? [config.panel] : [config.panel, appeals.panel];
  const { mayReadControlTokens: mayRead } = config.panel;
  let isKnown = false;
  const finding = Promise.all(
    configuredModels(panels).map((model) =>
      awaitTokenFinding(model, { logger, mayRead, find: createTokenSearch(model) }, signal),
    ),
  ).then(() => {
    isKnown = true;
  });
  const { first, appeal } = panelsFromConfig(config.panel, appeals?.panel ?? null, work);
  const panelOf = (panel: AskDeps) =>
    onceKnown(
      () => isKnown,
      (panelCase, run) => runPanel(panelCase, { ...panel, ...run }),
    );
  const deps = {
    ...work,
    atOnce,
    tokensPerDay,
    largestRun: largestRun(first.settings),
    tokensOfCase: (panelCase) => tokensOfCase(panelCase, first.settings),
    runPanel: panelOf(first),
    runAppealPanel: appeal && panelOf(appeal),
    metrics: createVerdictMetrics(work.registry),
    monotonicMs: () => performance.now(),
    random: Math.random,
    lease: LEASE,
    pace: PACE,
  } satisfies Parameters<typeof runVerdicts>[0];
  const start = async () => {
    await Promise.race([finding, pauseFor(FINDING_MS, signal)]);
    await runVerdicts(deps, signal);
  };
  await Promise.all([finding, start()]);
}

const SETTLE_PAUSE_MS = 2_000;
const SWEEP_PAUSE_MS = 300_000;
const DAY_MS = 86_400_000;
/** An unused specification is dropped after this time, since registering one is free. */
const UNUSED_DAYS = 1;
const ENDED_DAYS = 1;

/** Activates or withdraws outputs whose request died, returns prices of failed verdicts, and drops old texts and specifications. Any number of workers may run it. */
export async function sweepVerification(
  deps: Parameters<typeof sweepOnce>[0] & Pick<WorkerParts, "logger">,
  signal: AbortSignal,
): Promise<void> {
  const { logger } = deps;
  await Promise.all([
    repeat({ logger, pauseMs: SETTLE_PAUSE_MS, what: "settling submitted outputs" }, signal, () =>
      settleIntake(deps),
    ),
    repeat({ logger, pauseMs: SETTLE_PAUSE_MS, what: "settling appeals" }, signal, () => sweepAppeals(deps)),
    repeat({ logger, pauseMs: SETTLE_PAUSE_MS, what: "erasing texts on request" }, signal, () =>
      eraseRequested(deps.db, deps.now()),
    ),
    repeat({ logger, pauseMs: SWEEP_PAUSE_MS, what: "dropping texts and specifications" }, signal, () =>
      sweepOnce(deps),
    ),
  ]);
}

export async function sweepOnce({
  db,
  chainId,
  now,
  retentionDays,
}: Pick<WorkerParts, "db" | "now"> & { chainId: number; retentionDays: number }): Promise<void> {
  const at = now();
  const daysAgo = (days: number) => new Date(at.getTime() - days * DAY_MS);
  await dropOldTexts(db, { before: daysAgo(retentionDays), now: at });
  await dropUnusedSpecs(db, { chainId, before: daysAgo(UNUSED_DAYS), endedBefore: daysAgo(ENDED_DAYS) });
  await returnFinalFailures(db, at);
}
