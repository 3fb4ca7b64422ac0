import { createChainReader } from "../../service/chain/node/chain-reader.ts";
import { whileLeader } from "../../service/db/leader-lock.ts";
import {
  createEnrichMetrics,
  type EnrichMetrics,
  enrichLimits,
} from "../../service/ingest/enrich/context.ts";
import { runEnrich } from "../../service/ingest/enrich/run-enrich.ts";
import {
  createWarmContext,
  createWarmMetrics,
  runWarm,
  WARM_LOCK,
} from "../../service/ingest/warm/run-warm.ts";
import { createSanctionsContract, runAsking } from "../../service/sanctions/ask-contract.ts";
import { createReadingMetrics } from "../../service/sanctions/metrics.ts";
import { paidFeedbackRound } from "../../service/scores/backing/paid-feedback-round.ts";
import { createBackingMetrics, createBackingPass } from "../../service/scores/backing/run-backing.ts";
import {
  createFactPatience,
  type ScoringRunContext,
  scoreChangedFlags,
  scoreDueWallets,
  scoreOvertakenWallets,
} from "../../service/scores/run-scoring.ts";
import { closeGaps } from "../../service/scores/score-on-demand.ts";
import { requireChainSettings } from "../config.ts";
import { batchSourceFromConfig, factSourceFromConfig, historyReaderFromConfig } from "../from-config.ts";
import { openChainClient } from "../process.ts";
import { repeat, type WorkerParts } from "./upkeep.ts";

const SCORING_PAUSE_MS = 1_000;
const OVERTAKEN_PAUSE_MS = 60_000;
const GAPS_PAUSE_MS = 2_000;
const BACKING_PAUSE_MS = 5_000;
const FEEDBACK_PAUSE_MS = 30_000;
const FEEDBACK_RPC = { timeoutMs: 20_000, retries: 3, retryMs: 250 } as const;

type Parts = Pick<WorkerParts, "config" | "deployment" | "registry"> & { scoring: ScoringRunContext };

/**
 * Enriches finalized blocks, scores wallets, renews backing and completes histories until the signal fires. All workers divide
 * the scoring of due wallets; one leads each of the others.
 */
export async function runScores(parts: Parts, signal: AbortSignal): Promise<void> {
  const { db, chainId, logger } = parts.scoring;
  const led = { db, chainId, logger, signal };
  const metrics = createEnrichMetrics(parts.registry);
  await Promise.all([
    whileLeader({ ...led, name: "ahs-flags" }, (leading) =>
      repeat({ logger, pauseMs: SCORING_PAUSE_MS, what: "scoring changed flags" }, leading, () =>
        scoreChangedFlags(parts.scoring),
      ),
    ),
    runScoring(parts.scoring, signal),
    enrich(parts, metrics, signal),
    warm(parts, metrics, signal),
    renewBacking(parts, signal),
    readFeedback(parts, signal),
    closeHistories(parts, signal),
  ]);
}

async function enrich(
  { config, deployment, scoring }: Parts,
  metrics: EnrichMetrics,
  signal: AbortSignal,
): Promise<void> {
  const { db, chainId, logger } = scoring;
  const { rpcUrl } = requireChainSettings(config);
  const factSource = factSourceFromConfig(config, deployment, logger);
  const warms = batchSourceFromConfig(config, chainId) !== null;
  const limits = { ...enrichLimits, receiptsPercent: config.receiptsPercent };
  await whileLeader({ db, name: "ahs-enrich", chainId, logger, metrics, signal }, (led) =>
    runEnrich({ db, deployment, rpcUrl, factSource, warms, limits, metrics, logger }, led),
  );
}

/** Reads the time before the index from a batch source; returns at once without one. */
async function warm(
  { config, deployment, registry, scoring }: Parts,
  metrics: EnrichMetrics,
  signal: AbortSignal,
): Promise<void> {
  const { db, chainId, logger, now } = scoring;
  const { rpcUrl } = requireChainSettings(config);
  const source = batchSourceFromConfig(config, chainId);
  if (source === null) return;
  const warmMetrics = createWarmMetrics(registry);
  const deps = { db, deployment, rpcUrl, source, metrics, logger, now, random: Math.random };
  await whileLeader({ db, name: WARM_LOCK, chainId, logger, metrics: warmMetrics, signal }, (led) =>
    runWarm(createWarmContext(deps, led), warmMetrics),
  );
}

async function renewBacking({ deployment, registry, scoring }: Parts, signal: AbortSignal): Promise<void> {
  const { db, chainId, logger } = scoring;
  const metrics = createBackingMetrics(registry);
  const renewals = { logger, pauseMs: BACKING_PAUSE_MS, what: "renewing backing" };
  await whileLeader({ db, name: "ahs-backing", chainId, logger, metrics, signal }, (led) => {
    const pass = createBackingPass({ ...scoring, chain: deployment }, metrics);
    return repeat(renewals, led, () => pass(led));
  });
}

/** Reads feedback of payers if the deployment names a reputation registry and USDC, by which payments are proven. */
async function readFeedback({ config, deployment, scoring }: Parts, signal: AbortSignal): Promise<void> {
  const { db, chainId, logger } = scoring;
  const { reputationRegistry: registry, usdc, startBlock } = deployment;
  if (registry === null || usdc === null) return;
  const { rpcUrl: url } = requireChainSettings(config);
  const rounds = { logger, pauseMs: FEEDBACK_PAUSE_MS, what: "reading feedback" };
  await whileLeader({ db, name: "ahs-read-feedback", chainId, logger, signal }, (led) => {
    const node = createChainReader({ ...FEEDBACK_RPC, url, signal: led, onRequest: () => undefined });
    return repeat(rounds, led, () => paidFeedbackRound({ db, chainId, registry, usdc, startBlock, node }));
  });
}

/** Reads the blocks that the history source has not reported yet, of wallets that are followed by now. */
async function closeHistories({ config, scoring }: Parts, signal: AbortSignal): Promise<void> {
  const { db, chainId, logger } = scoring;
  const history = historyReaderFromConfig(config, chainId);
  if (history === null) return;
  // An open reading would keep the process alive.
  signal.addEventListener("abort", () => void history.close(), { once: true });
  const gaps = { logger, pauseMs: GAPS_PAUSE_MS, what: "completing histories" };
  await whileLeader({ db, name: "ahs-history", chainId, logger, signal }, (led) =>
    repeat(gaps, led, () => closeGaps({ ...scoring, history })),
  );
}

/** A worker that found nothing to score pauses twenty times as long as it looked: many workers load the database little. */
function pauseAfterLook({
  scored,
  tookMs,
}: {
  readonly scored: number | null;
  readonly tookMs: number;
}): number {
  return scored === 0 ? Math.max(SCORING_PAUSE_MS, 20 * tookMs) : SCORING_PAUSE_MS;
}

async function runScoring(scoring: ScoringRunContext, signal: AbortSignal): Promise<void> {
  const { logger } = scoring;
  const patience = createFactPatience(() => performance.now());
  const late = { logger, pauseMs: OVERTAKEN_PAUSE_MS, what: "scoring what came late" };
  await Promise.all([
    repeat({ logger, what: "scoring", pauseMs: pauseAfterLook }, signal, async () => {
      const started = performance.now();
      const scored = await scoreDueWallets(scoring, patience, signal);
      return { scored, tookMs: performance.now() - started };
    }),
    repeat(late, signal, () => scoreOvertakenWallets(scoring, signal)),
  ]);
}

/** Asks the sanctions contract about wallets that no indexed event names. One worker leads; returns at once if the chain has no such contract. */
export async function askSanctionsContract(
  work: Omit<WorkerParts, "config"> & { readonly rpcUrl: string },
  signal: AbortSignal,
): Promise<void> {
  const { rpcUrl, deployment, db, registry, logger } = work;
  const { chainId, sanctionsList } = deployment;
  const metrics = createReadingMetrics(registry);
  if (sanctionsList === null) {
    logger.info("this chain has no sanctions contract: imported lists alone decide");
    return;
  }
  const contract = createSanctionsContract(openChainClient(rpcUrl), sanctionsList.address);
  await whileLeader({ db, name: "ahs-sanctions", chainId, logger, signal }, (led) =>
    runAsking({ ...work, chainId, contract, metrics }, led),
  );
}
