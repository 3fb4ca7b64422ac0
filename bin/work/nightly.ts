import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../../service/db/database.ts";
import { newAgentsOf, registryFaultsOf, type ScanReport } from "../../service/db/tables/scan.ts";
import { readAsOf } from "../../service/ingest/read-as-of.ts";
import type { ScanRunMetrics } from "../../service/registries/metrics.ts";
import { hasScores } from "../../service/registries/nightly/finish-scan.ts";
import {
  beginScan,
  isNightDone,
  nightOf,
  noteScanFailure,
  readNewestScan,
  type ScanAttempt,
  whileScanning,
} from "../../service/registries/nightly/scan-runs.ts";

export type NightlyContext = {
  readonly db: Database;
  readonly chainId: number;
  /** Makes one scan, from its first step to its stored report; throws what keeps it from that. */
  readonly scan: (attempt: ScanAttempt, signal: AbortSignal) => Promise<ScanReport>;
  readonly metrics: ScanRunMetrics;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Of production, unless given. */
  readonly pauses?: NightlyPauses;
};

/** Milliseconds between two looks, and after the first and a later failure in a row. */
type NightlyPauses = {
  readonly pollMs: number;
  readonly failureMs: number;
  readonly longestMs: number;
};

const nightlyPauses: NightlyPauses = { pollMs: 5_000, failureMs: 5_000, longestMs: 600_000 };

/**
 * Makes the scan of every night until the signal fires: once, however many workers ask, since its row and a lock decide who
 * does. A night that was missed, or whose worker died, is made up by whoever looks next; of several missed ones the newest.
 */
export async function runNightly(context: NightlyContext, signal: AbortSignal): Promise<void> {
  const { pollMs, failureMs, longestMs } = context.pauses ?? nightlyPauses;
  let failures = 0;
  while (!signal.aborted) {
    const isGood = await lookOnce(context, signal);
    failures = isGood ? 0 : failures + 1;
    const pauseMs = isGood ? pollMs : Math.min(longestMs, failureMs * 2 ** (failures - 1));
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Never throws; false where something failed. */
async function lookOnce(context: NightlyContext, signal: AbortSignal): Promise<boolean> {
  const { db, chainId, logger, metrics } = context;
  try {
    // Before the scan, which may fail for days.
    await showNewest(context);
    const night = nightOf(context.now());
    if ((await isNightDone(db, chainId, night)) || !(await isReady(db, chainId))) return true;
    const made = await whileScanning({ db, chainId, signal }, (held) => scanNight(context, night, held));
    if (made === false) metrics.failures.inc();
    return made !== false;
  } catch (error) {
    if (signal.aborted) return true;
    metrics.failures.inc();
    logger.error({ err: error }, "the nightly scan could not begin; trying again");
    return false;
  }
}

/** Until the first score there is nothing to publish, and nothing to report. */
async function isReady(db: Database, chainId: number): Promise<boolean> {
  const asOf = await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId });
  return asOf !== null && (await hasScores(db, chainId));
}

/** Under the lock; false where the attempt failed. */
async function scanNight(context: NightlyContext, night: string, signal: AbortSignal): Promise<boolean> {
  const { db, chainId, logger, now } = context;
  const attempt = await beginScan(db, { chainId, night, cause: "nightly", id: randomUUID(), now: now() });
  if (attempt === null) return true;
  try {
    const report = await context.scan(attempt, signal);
    const { gradeMoves, ...counts } = report;
    logger.info({ night, attempts: attempt.attempts, ...counts }, "nightly scan done");
    return true;
  } catch (error) {
    if (signal.aborted) {
      logger.warn({ night }, "the nightly scan was cut short; whoever looks next goes on with it");
      return true;
    }
    logger.error({ err: error, night, attempts: attempt.attempts }, "the nightly scan failed; trying again");
    await noteScanFailure(db, attempt, "a step failed; the worker's log says which").catch((cause: unknown) =>
      logger.warn({ err: cause, night }, "why the nightly scan failed could not be noted"),
    );
    return false;
  }
}

/** The metrics are the same at every worker, whoever made the scan. */
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
