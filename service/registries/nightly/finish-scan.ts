import { and, count, eq, isNotNull, isNull, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Deployment } from "../../chain/deployments.ts";
import { holdChain } from "../../db/chain-fence.ts";
import { countIf, lowerCase } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { indexOf } from "../../db/index-tables.ts";
import { limitStatements } from "../../db/session.sql.ts";
import { agentDocument, probe, probeSchedule } from "../../db/tables/infrastructure.ts";
import { epoch } from "../../db/tables/publish.ts";
import { type RootReport, type ScanReport, scanGrade } from "../../db/tables/scan.ts";
import { currentScore } from "../../db/tables/score.ts";
import {
  agentBatches,
  areOfBatch,
  countDocuments,
  countDocumentsLeft,
} from "../documents/agent-documents.ts";
import type { RegistryReading } from "../readers/read-registry.ts";
import {
  countIndexedAgents,
  countRegistryAgents,
  countRequestedWallets,
} from "../readers/registry-agents.ts";
import { takeChangedDocuments, takeGradeMoves } from "./finish-scan.sql.ts";
import { endScan, readNewestScan, type ScanAttempt } from "./scan-runs.ts";

/** The join of all scores may take longer than a request is allowed. */
const REPORT_TIMEOUT_MS = 120_000;

/**
 * Counts what changed since the scan before, and stores the report with what the next scan compares with, all or nothing.
 * Throws where another attempt at the same scan has begun, or the chain was cleared.
 */
export async function finishScan(
  db: Database,
  end: {
    readonly attempt: ScanAttempt;
    readonly deployment: Pick<Deployment, "chainId" | "identityRegistry" | "registries">;
    /** Of the further registries, by lower-case address. */
    readonly readings: ReadonlyMap<string, Pick<RegistryReading, "block" | "fault">>;
    /** Final block up to which the indexed registry is counted. */
    readonly indexBlock: number;
    readonly root: RootReport;
    /** When documents were asked to be read again. */
    readonly askedAt: Date;
    readonly finishedAt: Date;
  },
): Promise<ScanReport> {
  const { attempt, deployment, root, askedAt, finishedAt } = end;
  const { chainId } = deployment;
  return db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await limitStatements(tx, REPORT_TIMEOUT_MS);
    const before = (await readNewestScan(tx, chainId))?.report ?? null;
    const moves = await takeGradeMoves(tx, chainId);
    const changedDocuments = await takeChangedDocuments(tx, chainId);
    const report: ScanReport = {
      registries: await reportRegistries(tx, end, before),
      ...(await readScanFigures(tx, chainId)),
      documentsLeft: await countDocumentsLeft(tx, chainId, askedAt),
      changedDocuments,
      changedGrades: before === null ? null : moves.count,
      gradeMoves: before === null ? [] : moves.first,
      ...root,
    };
    if (!(await endScan(tx, attempt, { report, finishedAt }))) {
      throw new Error("another attempt at this scan has begun, or its chain was cleared");
    }
    return report;
  });
}

/** The one that the index follows first, then the further ones in the order of the deployment. */
async function reportRegistries(
  tx: NodePgDatabase,
  { attempt, deployment, readings, indexBlock }: Parameters<typeof finishScan>[1],
  before: ScanReport | null,
): Promise<ScanReport["registries"]> {
  const { chainId } = deployment;
  const sinceOf = (registry: string) =>
    before?.registries.find((reported) => reported.registry === registry)?.block ?? null;
  const followed = lowerCase(deployment.identityRegistry.address);
  const indexed = { chainId, since: sinceOf(followed), block: indexBlock };
  const own = {
    registry: followed,
    name: "identity registry",
    newWallets: 0,
    block: indexBlock,
    fault: null,
  };
  const reports: ScanReport["registries"][number][] = [
    { ...own, ...(await countIndexedAgents(tx, indexed)) },
  ];
  for (const { address, name } of deployment.registries) {
    const registry = lowerCase(address);
    const { block, fault } = readings.get(registry) ?? { block: null, fault: "it was not read" };
    const counts = await countRegistryAgents(tx, { chainId, registry, since: sinceOf(registry) });
    const newWallets = await countRequestedWallets(tx, { chainId, registry, since: attempt.startedAt });
    reports.push({ registry, name, ...counts, newWallets, block, fault });
  }
  return reports;
}

/**
 * Has documents that no scan has found before be compared with what they say now, a batch of agents at a time. Throws the
 * signal's reason between two batches when it fires.
 */
export async function markNewDocuments(db: Database, chainId: number, signal: AbortSignal): Promise<void> {
  const isNew = and(isNull(agentDocument.scannedHash), isNotNull(agentDocument.contentHash));
  for await (const batch of agentBatches(db, chainId, signal)) {
    await db
      .update(agentDocument)
      .set({ scannedHash: agentDocument.contentHash })
      .where(and(areOfBatch(chainId, batch), isNew));
  }
}

/** Counts documents, endpoints, followed wallets and scores of the whole chain; the index must be there. */
async function readScanFigures(tx: NodePgDatabase, chainId: number) {
  return {
    documents: await countDocuments(tx, chainId),
    endpoints: await countEndpoints(tx, chainId),
    wallets: await tx.$count(indexOf(chainId).wallet),
    grades: await countGrades(tx, chainId),
    ...(await readMeans(tx, chainId)),
  };
}

/** One that was never visited is neither alive nor failing. */
async function countEndpoints(tx: NodePgDatabase, chainId: number): Promise<ScanReport["endpoints"]> {
  const { chainId: chain, endpoint, failingSince } = probeSchedule;
  const visited = tx.select({ endpoint: probe.endpoint }).from(probe).where(eq(probe.chainId, chainId));
  const isAlive = sql`${failingSince} is null and ${endpoint} in ${visited}`;
  const [counts] = await tx
    .select({ alive: countIf(isAlive), failing: countIf(isNotNull(failingSince)) })
    .from(probeSchedule)
    .where(eq(chain, chainId));
  if (counts === undefined) throw new Error("expected one row of an aggregate, got none");
  return counts;
}

/** Of the grades that `takeGradeMoves` left, so that they are what the moves lead to. */
async function countGrades(tx: NodePgDatabase, chainId: number): Promise<ScanReport["grades"]> {
  const rows = await tx
    .select({ grade: scanGrade.grade, count: count() })
    .from(scanGrade)
    .where(eq(scanGrade.chainId, chainId))
    .groupBy(scanGrade.grade);
  const counted = Object.fromEntries(rows.map(({ grade, count }) => [grade ?? "insufficient", count]));
  return { A: 0, B: 0, C: 0, D: 0, E: 0, F: 0, insufficient: 0, ...counted };
}

async function readMeans(tx: NodePgDatabase, chainId: number) {
  const [means] = await tx
    .select({
      meanScoreHundredths: sql<number | null>`round(avg(${currentScore.ahsScore}) * 100)::int`,
      sanctioned: countIf(currentScore.sanctioned),
    })
    .from(currentScore)
    .where(eq(currentScore.chainId, chainId));
  if (means === undefined) throw new Error("expected one row of an aggregate, got none");
  return means;
}

/** Whether a wallet of the chain has been scored. */
export async function hasScores(db: NodePgDatabase, chainId: number): Promise<boolean> {
  const { wallet, chainId: chain } = currentScore;
  return (await db.select({ wallet }).from(currentScore).where(eq(chain, chainId)).limit(1)).length > 0;
}

/** Reads an epoch's root and its number of leaves; null without an epoch of that number. */
export async function readEpochFigures(
  db: NodePgDatabase,
  of: { readonly chainId: number; readonly epoch: number },
): Promise<ScanReport["root"]> {
  const leaves = sql<number>`jsonb_array_length(${epoch.leaves})`;
  const [row] = await db
    .select({ epoch: epoch.epoch, root: epoch.root, leaves })
    .from(epoch)
    .where(and(eq(epoch.chainId, of.chainId), eq(epoch.epoch, of.epoch)));
  return row ?? null;
}
