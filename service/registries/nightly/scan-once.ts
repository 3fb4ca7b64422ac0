import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Deployment, RegistryEntry } from "../../chain/deployments.ts";
import { readChainMark } from "../../db/chain-fence.ts";
import { lowerCase } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { isOutage } from "../../db/database-failure.ts";
import { fromIndex, readIndexHead } from "../../db/index-snapshot.ts";
import type { RootReport, ScanReport } from "../../db/tables/scan.ts";
import { readFinalized } from "../../ingest/read-as-of.ts";
import { askForDocuments, countWaitingDocuments } from "../documents/agent-documents.ts";
import {
  type RegistryClient,
  type RegistryLimits,
  type RegistryReading,
  readRegistry,
  registryLimits,
} from "../readers/read-registry.ts";
import { requestRegistryWallets } from "../readers/registry-agents.sql.ts";
import { readRegistryCursor } from "../readers/registry-agents.ts";
import { finishScan, markNewDocuments } from "./finish-scan.ts";
import type { ScanAttempt } from "./scan-runs.ts";

export type ScanOnceDeps = {
  readonly db: Database;
  readonly deployment: Pick<Deployment, "chainId" | "finalityBlocks" | "identityRegistry" | "registries">;
  /** Steps of a scan that other modules run. */
  readonly steps: {
    /** Has every followed wallet scored, until the signal fires. */
    readonly scoreAll: (attempt: ScanAttempt, signal: AbortSignal) => Promise<unknown>;
    /** Publishes the root of all scores, once a night. */
    readonly publishRoot: () => Promise<RootReport>;
  };
  /** Reads the chain's logs until the signal fires. */
  readonly openReader: (signal: AbortSignal) => RegistryClient;
  /** Wallets of registries that may wait to be followed, at most. */
  readonly mostWaiting: number;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  /** Of production, unless given. */
  readonly limits?: { readonly registries: RegistryLimits; readonly documents: DocumentPatience };
};

/** Milliseconds to wait in all, without one more document read, and between two looks. */
type DocumentPatience = { readonly maxMs: number; readonly stallMs: number; readonly pollMs: number };

/**
 * A fetch takes at most ten seconds, so a running reader has read one document within the stall time. Each poll counts
 * all documents, so polls are few.
 */
const documentPatience: DocumentPatience = { maxMs: 600_000, stallMs: 45_000, pollMs: 10_000 };

/** Of production. */
const scanOnceLimits = { registries: registryLimits, documents: documentPatience };

/**
 * Runs one scan: scores all wallets, publishes the root, requests documents again, reads the registries, waits up to
 * ten minutes for documents, and writes the report.
 * Every step may be repeated after a crash. A failing registry or document is a line of the report. A failing database,
 * the signal and a chain without an index throw.
 */
export async function scanOnce(
  deps: ScanOnceDeps,
  attempt: ScanAttempt,
  signal: AbortSignal,
): Promise<ScanReport> {
  const { db, deployment, steps, now, monotonicMs } = deps;
  const { chainId } = deployment;
  const limits = deps.limits ?? scanOnceLimits;
  const finalBlock = await requireFinalBlock(db, deployment);
  await steps.scoreAll(attempt, signal);
  signal.throwIfAborted();
  const root = await steps.publishRoot();
  const askedAt = now();
  await askForDocuments(db, { chainId, readBefore: attempt.startedAt, now: askedAt }, signal);
  const readings = await readRegistries({ ...deps, limits }, { finalBlock, signal });
  const countWaiting = () => countWaitingDocuments(db, chainId, askedAt);
  await awaitDocuments({ countWaiting, patience: limits.documents, monotonicMs }, signal);
  await markNewDocuments(db, chainId, signal);
  return finishScan(db, {
    attempt,
    deployment,
    readings,
    root,
    askedAt,
    indexBlock: finalBlock,
    finishedAt: now(),
  });
}

/** The newest block that is final for the index and as deep as the deployment wants; below zero while no block is so deep. */
async function requireFinalBlock(
  db: Database,
  { chainId, finalityBlocks }: Pick<Deployment, "chainId" | "finalityBlocks">,
): Promise<number> {
  const final = await readFinalized(db.$client, chainId);
  const head = final === null ? null : await fromIndex(readIndexHead(db, chainId));
  if (final === null || head === null)
    throw new Error(`chain ${chainId} is not indexed up to a final block yet`);
  return Math.min(final.blockNumber, head.blockNumber - finalityBlocks);
}

/** One after the other, so that one node is asked for one range at a time; by lower-case address. */
async function readRegistries(
  deps: ScanOnceDeps & { readonly limits: NonNullable<ScanOnceDeps["limits"]> },
  { finalBlock, signal }: { readonly finalBlock: number; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, RegistryReading>> {
  const { db, deployment, monotonicMs, now, mostWaiting } = deps;
  const { chainId, registries } = deployment;
  const readings = new Map<string, RegistryReading>();
  const generation = (await readChainMark(db, chainId))?.generation;
  if (registries.length === 0) return readings;
  if (generation === undefined) throw new Error(`chain ${chainId} has no mark yet: its index has just begun`);
  const client = deps.openReader(signal);
  const { logger } = deps;
  const limits = deps.limits.registries;
  const reader = { db, chainId, client, generation, finalBlock, limits, logger, monotonicMs };
  for (const entry of registries) {
    const registry = lowerCase(entry.address);
    const reading = await readRegistry(reader, entry).catch(async (error: unknown) => {
      if (signal.aborted || isOutage(error)) throw error;
      // The others, and the night's report, must not wait for what this one registry says.
      logger.error({ err: error, registry: entry.name }, "what a registry says could not be stored");
      const block = await readRegistryCursor(db, { chainId, registry });
      return { block, fault: "what it says could not be stored; the service's log says why", cause: null };
    });
    report(logger, entry, reading);
    readings.set(registry, reading);
  }
  await requestRegistryWallets(db, { chainId, registries: [...readings.keys()], now: now(), mostWaiting });
  return readings;
}

function report(logger: Logger, { name }: RegistryEntry, { block, fault, cause }: RegistryReading): void {
  if (fault === null) return;
  const why = cause === null ? {} : { err: cause };
  logger.warn({ registry: name, block, fault, ...why }, "a registry could not be read to its end");
}

/** Waits until no document waits to be read, as long as patience allows. Throws the signal's reason when it fires. */
export async function awaitDocuments(
  wait: {
    /** How many documents wait to be read. */
    readonly countWaiting: () => Promise<number>;
    readonly patience: DocumentPatience;
    /** Milliseconds of a clock that never goes back. */
    readonly monotonicMs: () => number;
  },
  signal: AbortSignal,
): Promise<void> {
  const { countWaiting, patience, monotonicMs } = wait;
  const startedAt = monotonicMs();
  let left = await countWaiting();
  let movedAt = startedAt;
  while (left > 0) {
    const now = monotonicMs();
    if (now - startedAt >= patience.maxMs || now - movedAt >= patience.stallMs) return;
    await sleep(patience.pollMs, undefined, { signal });
    const next = await countWaiting();
    if (next < left) movedAt = monotonicMs();
    left = next;
  }
}
