import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { type Deployment, loadDeployment } from "../../service/chain/deployments.ts";
import { createSenderMetrics } from "../../service/chain/send-metrics.ts";
import { senderPolicy } from "../../service/chain/send-policy.ts";
import { createSenderRpc } from "../../service/chain/send-rpc.ts";
import { runSender } from "../../service/chain/sender-loop.ts";
import { createEnrichMetrics } from "../../service/enrich/metrics.ts";
import { runEnrich } from "../../service/enrich/run-enrich.ts";
import { createPublishMetrics } from "../../service/publish/metrics.ts";
import { defaultPublishPolicy, type PublishPolicy } from "../../service/publish/policy.ts";
import { runPublisher } from "../../service/publish/publisher.ts";
import { type ScoringRunContext, scoreDueWallets } from "../../service/record/run-scoring.ts";
import { AHS_2026_0 } from "../../service/score/policy.ts";
import { readChainMark } from "../../service/store/chain-mark.ts";
import type { Database } from "../../service/store/database.ts";
import { returnExpiredHolds } from "../../service/store/key-debits.ts";
import { whileLeader } from "../../service/store/leader-lock.ts";
import { accountFromConfig } from "../account-from-config.ts";
import type { Invocation } from "../ahs.ts";
import { type Config, requireChainSettings } from "../config.ts";
import { EXIT_RESTART } from "../exit-code.ts";
import { createLogger, openMigratedDatabase, shutdownSignal } from "../process.ts";
import { serveMetrics } from "../work/metrics-server.ts";
import { runNightly } from "../work/nightly.ts";

const SCORING_PAUSE_MS = 1_000;
const FAILURE_PAUSE_MS = 3_000;
const HOLDS_PAUSE_MS = 30_000;
const CHAIN_PAUSE_MS = 2_000;
const PUBLISH_PAUSE_MS = 1_000;
const SENDER_RPC = { timeoutMs: 10_000, retries: 2 };

/** `ahs work`: scores, publishes, sends and runs the nightly jobs until it is told to stop. */
export async function work({ config }: Invocation): Promise<void> {
  const settings = requireChainSettings(config);
  const logger = createLogger(config, "work");
  const deployment = loadDeployment(settings.deploymentFile);
  const { chainId } = deployment;
  const signal = shutdownSignal();
  const db = await openMigratedDatabase(config, "ahs-work", logger);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  if (config.metricsPort !== null) serveMetrics(registry, config.metricsPort, signal);

  const scoring = scoringContext({ config, deployment, db, logger });
  const publisher = accountFromConfig(config, chainId, "PUBLISHER_PRIVATE_KEY");
  const target = { chainId, oracle: deployment.oracle.address, sender: publisher.address };
  const common = { db, logger, now: scoring.now };
  const enrichMetrics = createEnrichMetrics(registry);
  await Promise.all([
    whileLeader({ db, name: "ahs-scoring", chainId, logger, signal }, (led) => runScoring(scoring, led)),
    whileLeader({ db, name: "ahs-enrich", chainId, logger, signal }, (led) =>
      runEnrich({ db, chainId, rpcUrl: settings.rpcUrl, metrics: enrichMetrics, logger }, led),
    ),
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
    runSender(
      {
        chainId,
        account: publisher,
        rpc: createSenderRpc({ url: settings.rpcUrl, ...SENDER_RPC }),
        policy: senderPolicy(deployment),
        metrics: createSenderMetrics(registry),
        logger,
        now: scoring.now,
        databaseUrl: settings.databaseUrl,
      },
      signal,
    ),
    runNightly(
      {
        scoring,
        root: { ...target, uriOf: (epoch) => `${publicUrl(config)}/epochs/${epoch}` },
        databaseUrl: settings.databaseUrl,
        logger,
      },
      signal,
    ),
    repeat({ ...common, pauseMs: HOLDS_PAUSE_MS, what: "returning abandoned debits" }, signal, async () => {
      await returnExpiredHolds(db, scoring.now());
    }),
    exitWithChain(db, { chainId, logger, signal }),
  ]);
  await db.$client.end();
}

function scoringContext(from: {
  config: Config;
  deployment: Deployment;
  db: Database;
  logger: Logger;
}): ScoringRunContext {
  return {
    db: from.db,
    chainId: from.deployment.chainId,
    policy: AHS_2026_0,
    publishPolicy: publishPolicyOf(from.config),
    now: () => new Date(),
    rescoreIntervalSeconds: from.config.rescoreIntervalSeconds,
    logger: from.logger,
  };
}

function publishPolicyOf({ dailyGas }: Config): PublishPolicy {
  return dailyGas === null ? defaultPublishPolicy : { ...defaultPublishPolicy, dailyGas };
}

function publicUrl(config: Config): string {
  return config.publicUrl ?? `http://${config.host}:${config.port}`;
}

function runScoring(scoring: ScoringRunContext, signal: AbortSignal): Promise<void> {
  const { logger } = scoring;
  return repeat({ logger, pauseMs: SCORING_PAUSE_MS, what: "scoring" }, signal, async () => {
    await scoreDueWallets(scoring);
  });
}

/** What was planned for a chain that is gone must not go on: a new process starts with the new chain. */
async function exitWithChain(
  db: Database,
  { chainId, logger, signal }: { chainId: number; logger: Logger; signal: AbortSignal },
): Promise<void> {
  let known: string | null = null;
  await repeat({ logger, pauseMs: CHAIN_PAUSE_MS, what: "watching the chain" }, signal, async () => {
    const generation = (await readChainMark(db, chainId))?.generation ?? null;
    if (known !== null && generation !== known) {
      logger.fatal("the chain was replaced and its data cleared: starting over");
      process.exit(EXIT_RESTART);
    }
    known = generation;
  });
}

/** Does something again and again until the signal fires; a failure is logged and followed by a longer pause. */
async function repeat(
  options: { readonly logger: Logger; readonly pauseMs: number; readonly what: string },
  signal: AbortSignal,
  act: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    let pauseMs = options.pauseMs;
    try {
      await act();
    } catch (error) {
      options.logger.error({ err: error }, `${options.what} failed; trying again`);
      pauseMs = Math.max(pauseMs, FAILURE_PAUSE_MS);
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
