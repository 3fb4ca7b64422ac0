import { randomUUID } from "node:crypto";
import { schedule } from "node-cron";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Address } from "viem";
import { type Deployment, registriesByAddress } from "../../service/chain/deployments.ts";
import { LOCAL_CHAIN_ID } from "../../service/chain/networks.ts";
import { createChainReader } from "../../service/chain/node/chain-reader.ts";
import type { Database } from "../../service/db/database.ts";
import { whileLeader } from "../../service/db/leader-lock.ts";
import { pauseFor, runLoop } from "../../service/db/run-loop.ts";
import {
  newAgentsOf,
  type RootReport,
  registryFaultsOf,
  type ScanReport,
} from "../../service/db/tables/scan.ts";
import { readAsOf } from "../../service/ingest/read-as-of.ts";
import { createGuardedFetch } from "../../service/net/guarded-fetch.ts";
import { publishRoot } from "../../service/oracle/publish-root.ts";
import { createScanMetrics, createScanRunMetrics } from "../../service/registries/metrics.ts";
import { hasScores, readEpochFigures } from "../../service/registries/nightly/finish-scan.ts";
import { type ScanOnceDeps, scanOnce } from "../../service/registries/nightly/scan-once.ts";
import {
  beginScan,
  fixReach,
  isNightDone,
  NIGHT_CRON,
  nightOf,
  nightStart,
  noteScanFailure,
  readNewestScan,
  readReach,
  type ScanAttempt,
  whileScanning,
} from "../../service/registries/nightly/scan-runs.ts";
import { runScan } from "../../service/registries/probes/run-scan.ts";
import { type ScoringRunContext, scoreAllWallets } from "../../service/scores/run-scoring.ts";
import { type Config, publicUrl } from "../config.ts";
import { guardFromConfig } from "../from-config.ts";

export type NightlyContext = {
  readonly db: Database;
  readonly chainId: number;
  /** Makes one scan, from its first step to its stored report; throws what keeps it from that. */
  readonly scan: (attempt: ScanAttempt, signal: AbortSignal) => Promise<ScanReport>;
  /** Scores a share of the wallets of the scan that another worker makes; theirs must reach this block. */
  readonly help: (reach: number, signal: AbortSignal) => Promise<unknown>;
  readonly metrics: ReturnType<typeof createScanRunMetrics>;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly pauses?: typeof nightlyPauses;
  /** Calls the function whenever a night begins, until its result is called; node-cron unless given. */
  readonly onNight?: typeof onNight;
};

/** Milliseconds between two checks of an open night, and after the first and a later failure in a row. */
const nightlyPauses = { pollMs: 5_000, failureMs: 5_000, longestMs: 600_000 };
/** Pause after a check of a night that is done, in pauses of an open one: the clock wakes the loop when the next night begins. */
const DONE_PAUSES = 12;

/**
 * Makes the scan of every night until the signal fires. node-cron wakes every worker when a night begins; the night's row and a lock
 * decide which one scans, and the others score a share of the wallets. The checks between nights make up for a night that was missed
 * or whose worker died; of several missed nights only the newest is scanned.
 */
export async function runNightly(context: NightlyContext, signal: AbortSignal): Promise<void> {
  const { logger, metrics, now } = context;
  const { pollMs, failureMs, longestMs } = context.pauses ?? nightlyPauses;
  let bell = new AbortController();
  const silence = (context.onNight ?? onNight)(() => bell.abort());
  await runLoop({
    logger,
    what: "the nightly scan",
    signal,
    pauseMs: (isDone) => (isDone ? DONE_PAUSES * pollMs : pollMs),
    retryMs: { first: failureMs, longest: longestMs },
    wait: async (ms) => {
      await pauseFor(ms, AbortSignal.any([signal, bell.signal]));
      bell = new AbortController();
    },
    onFailure: (error) => {
      metrics.failures.inc();
      logger.error({ err: error, night: nightOf(now()) }, "the nightly scan failed; trying again");
      return 0;
    },
    pass: () => checkNight(context, signal),
  });
  silence();
}

function onNight(wake: () => void): () => void {
  const task = schedule(NIGHT_CRON, wake, { timezone: "UTC" });
  return () => void task.destroy();
}

/** Scans the present night unless it is done; helps with the scores if another process scans it. Returns true if it is done. */
async function checkNight(context: NightlyContext, signal: AbortSignal): Promise<boolean> {
  const { db, chainId } = context;
  // Before the scan, which may fail for days.
  await showNewest(context);
  const night = nightOf(context.now());
  if (await isNightDone(db, chainId, night)) return true;
  if (!(await isReady(db, chainId))) return false;
  const outcome = await whileScanning({ db, chainId, signal }, (held) => scanNight(context, night, held));
  if (outcome !== "busy") return false;
  const reach = await readReach(db, chainId);
  if (reach !== null) await context.help(reach, signal);
  return false;
}

/** Until the first score there is nothing to publish, and nothing to report. */
async function isReady(db: Database, chainId: number): Promise<boolean> {
  const asOf = await readAsOf(db.$client, chainId);
  return asOf !== null && (await hasScores(db, chainId));
}

async function scanNight(context: NightlyContext, night: string, signal: AbortSignal): Promise<void> {
  const { db, chainId, logger, now } = context;
  const attempt = await beginScan(db, { chainId, night, cause: "nightly", id: randomUUID(), now: now() });
  if (attempt === null) return;
  try {
    const { gradeMoves, ...counts } = await context.scan(attempt, signal);
    logger.info({ night, attempts: attempt.attempts, ...counts }, "nightly scan done");
  } catch (error) {
    if (signal.aborted) {
      logger.warn({ night }, "the nightly scan was interrupted; another process resumes it");
      return;
    }
    await noteScanFailure(db, attempt, "a step failed; the worker's log says which").catch((cause: unknown) =>
      logger.warn({ err: cause, night }, "why the nightly scan failed could not be noted"),
    );
    throw error;
  }
}

/** Every worker shows the same metrics, whichever made the scan. */
async function showNewest({ db, chainId, metrics }: NightlyContext): Promise<void> {
  const newest = await readNewestScan(db, chainId);
  if (newest?.finishedAt == null || newest.report === null) return;
  const { finishedAt, startedAt, report } = newest;
  metrics.lastSuccess.set(Math.floor(finishedAt.getTime() / 1000));
  metrics.durationSeconds.set((finishedAt.getTime() - startedAt.getTime()) / 1000);
  metrics.changes.set({ of: "agents" }, newAgentsOf(report));
  metrics.changes.set({ of: "documents" }, report.changedDocuments);
  if (report.changedGrades !== null) metrics.changes.set({ of: "grades" }, report.changedGrades);
  metrics.changes.set({ of: "registry_faults" }, registryFaultsOf(report));
}

const SCAN_RPC = { timeoutMs: 20_000, retries: 3, retryMs: 250 };

type ScanContext = {
  readonly config: Config;
  readonly deployment: Deployment;
  readonly rpcUrl: string;
  readonly scoring: ScoringRunContext;
  /** The oracle's publisher, whose transactions a worker sends. */
  readonly publisher: Address;
};

/** Makes one scan with the scoring, the root and the node of this process. */
export function scanWith(
  context: ScanContext,
): (attempt: ScanAttempt, signal: AbortSignal) => Promise<ScanReport> {
  const { config, deployment, rpcUrl, scoring } = context;
  const { db, logger, now } = scoring;
  const deps = {
    db,
    deployment,
    logger,
    now,
    steps: stepsOf(context),
    openReader: (signal: AbortSignal) =>
      createChainReader({ ...SCAN_RPC, url: rpcUrl, signal, onRequest: () => undefined }),
    mostWaiting: config.enrolment.perDay,
    monotonicMs: () => performance.now(),
  };
  return (attempt, signal) => scanOnce(deps, attempt, signal);
}

function stepsOf(context: ScanContext): ScanOnceDeps["steps"] {
  return {
    scoreAll: (attempt, signal) => scoreNight(context.scoring, attempt, signal),
    publishRoot: () => publishNightRoot(context),
  };
}

async function scoreNight(scoring: ScoringRunContext, attempt: ScanAttempt, signal: AbortSignal) {
  const reach = await fixReach(scoring.db, attempt);
  if (reach === null) return;
  const night = await scoreAllWallets(scoring, { reach, signal });
  const leftOut = night?.leftOut ?? 0;
  if (leftOut > 0) scoring.logger.warn({ leftOut }, "idle wallets are left to be scored in later nights");
}

/**
 * Queues the root of the present night, unless it was. On a public chain it needs PUBLIC_URL: without it, the root would name
 * an address of this machine for ever. Throws without an index.
 */
export async function publishNightRoot(context: {
  config: Pick<Config, "publicUrl" | "host" | "port">;
  deployment: Pick<Deployment, "oracle">;
  scoring: Pick<ScoringRunContext, "db" | "chainId" | "now">;
  publisher: Address;
}): Promise<RootReport> {
  const { config, deployment, scoring, publisher } = context;
  const { db, chainId, now } = scoring;
  if (config.publicUrl === null && chainId !== LOCAL_CHAIN_ID) {
    return { root: null, noRoot: "PUBLIC_URL is not set, and a root names the public address of its leaves" };
  }
  const at = now();
  const day = nightOf(at);
  const outcome = await publishRoot(db, {
    chainId,
    oracle: deployment.oracle.address,
    sender: publisher,
    now: at,
    night: { day, startedAt: nightStart(day) },
    uriOf: (epoch) => `${publicUrl(config)}/epochs/${epoch}`,
  });
  switch (outcome.kind) {
    case "queued":
    case "exists": {
      const root = await readEpochFigures(db, { chainId, epoch: outcome.epoch });
      return { root, noRoot: root === null ? "the chain was cleared meanwhile" : null };
    }
    case "no_scores":
      return { root: null, noRoot: "there is no score to publish" };
    case "no_index":
      throw new Error("no root to publish: there is no index");
  }
}

/** Reads documents, probes endpoints and makes the scan of every night until the signal fires. */
export async function runScans(
  context: ScanContext & { readonly registry: Registry },
  signal: AbortSignal,
): Promise<void> {
  const { config, scoring, registry } = context;
  const { db, chainId, logger, now } = scoring;
  const common = { db, chainId, logger, now };
  const visits = {
    ...common,
    fetch: createGuardedFetch(guardFromConfig(config, chainId)),
    registries: [...registriesByAddress(context.deployment).keys()],
    ipfsGateway: config.ipfsGateway,
    metrics: createScanMetrics(registry),
    monotonicMs: () => performance.now(),
    random: Math.random,
  };
  await Promise.all([
    whileLeader({ ...common, name: "ahs-scan", metrics: visits.metrics, signal }, (led) =>
      runScan(visits, led),
    ),
    runNightly(
      {
        ...common,
        scan: scanWith(context),
        help: (reach, stop) => scoreAllWallets(scoring, { reach, signal: stop }),
        metrics: createScanRunMetrics(registry),
      },
      signal,
    ),
  ]);
}
