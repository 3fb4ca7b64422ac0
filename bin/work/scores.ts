import type { Registry } from "prom-client";
import type { Deployment } from "../../service/chain/deployments.ts";
import { whileLeader } from "../../service/db/leader-lock.ts";
import { createEnrichMetrics } from "../../service/ingest/enrich/context.ts";
import { runEnrich } from "../../service/ingest/enrich/run-enrich.ts";
import {
  createFactPatience,
  type ScoringRunContext,
  scoreDueWallets,
  scoreOvertakenWallets,
} from "../../service/scores/run-scoring.ts";
import { closeGaps } from "../../service/scores/score-on-demand.ts";
import { type Config, requireChainSettings } from "../config.ts";
import { factSourceFromConfig } from "../facts-from-config.ts";
import { historyReaderFromConfig } from "../history-from-config.ts";
import { repeat } from "./repeat.ts";

const SCORING_PAUSE_MS = 1_000;
const OVERTAKEN_PAUSE_MS = 60_000;
const GAPS_PAUSE_MS = 2_000;

type Parts = {
  readonly config: Config;
  readonly deployment: Deployment;
  readonly registry: Registry;
  readonly scoring: ScoringRunContext;
};

/** Reads what scores need beside the index, and scores, until the signal fires; each is led by one worker. */
export async function runScores(parts: Parts, signal: AbortSignal): Promise<void> {
  const { db, chainId, logger } = parts.scoring;
  const led = { db, chainId, logger, signal };
  await Promise.all([
    whileLeader({ ...led, name: "ahs-scoring" }, (leading) => runScoring(parts.scoring, leading)),
    enrich(parts, signal),
    closeHistories(parts, signal),
  ]);
}

async function enrich({ config, deployment, registry, scoring }: Parts, signal: AbortSignal): Promise<void> {
  const { db, chainId, logger } = scoring;
  const { rpcUrl } = requireChainSettings(config);
  const metrics = createEnrichMetrics(registry);
  const factSource = factSourceFromConfig(config, deployment);
  await whileLeader({ db, name: "ahs-enrich", chainId, logger, metrics, signal }, (led) =>
    runEnrich({ db, deployment, rpcUrl, factSource, metrics, logger }, led),
  );
}

/** Where a history source is configured, has it tell what it has not told of wallets that are followed by now. */
async function closeHistories({ config, scoring }: Parts, signal: AbortSignal): Promise<void> {
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
