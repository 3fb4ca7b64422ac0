import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Deployment } from "../../chain/deployments.ts";
import { holdChain } from "../../db/chain-fence.ts";
import { lowerCase } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import type { RegistryReport, RootReport, ScanReport } from "../../db/tables/scan-report.ts";
import { countDocumentsLeft } from "../documents/agent-documents.ts";
import type { RegistryReading } from "../readers/read-registry.ts";
import {
  countIndexedAgents,
  countRegistryAgents,
  countRequestedWallets,
} from "../readers/registry-agents.ts";
import { takeChangedDocuments, takeGradeMoves } from "./scan-changes.ts";
import { readScanFigures } from "./scan-figures.ts";
import { endScan, readNewestScan, type ScanAttempt } from "./scan-runs.ts";

export type ScanEnd = {
  readonly attempt: ScanAttempt;
  readonly deployment: Pick<Deployment, "chainId" | "identityRegistry" | "registries">;
  /** Of the further registries, by lower-case address. */
  readonly readings: ReadonlyMap<string, Pick<RegistryReading, "block" | "fault">>;
  /** Final block up to which the registry is told of that the index follows. */
  readonly indexBlock: number;
  readonly root: RootReport;
  /** When documents were asked to be read again. */
  readonly askedAt: Date;
  readonly finishedAt: Date;
};

/** The join of all scores may take longer than a request is allowed. */
const REPORT_TIMEOUT_MS = 120_000;

/**
 * Counts what changed since the scan before, and stores the report with what the next scan compares with, all or nothing.
 * Throws where another attempt at the same scan has begun, or the chain was cleared.
 */
export async function finishScan(db: Database, end: ScanEnd): Promise<ScanReport> {
  const { attempt, deployment, root, askedAt, finishedAt } = end;
  const { chainId } = deployment;
  return db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await tx.execute(sql.raw(`set local statement_timeout = ${REPORT_TIMEOUT_MS}`));
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
  { attempt, deployment, readings, indexBlock }: ScanEnd,
  before: ScanReport | null,
): Promise<readonly RegistryReport[]> {
  const { chainId } = deployment;
  const sinceOf = (registry: string) =>
    before?.registries.find((reported) => reported.registry === registry)?.block ?? null;
  const followed = lowerCase(deployment.identityRegistry.address);
  const indexed = { chainId, since: sinceOf(followed), block: indexBlock };
  const reports: RegistryReport[] = [
    {
      registry: followed,
      name: "identity registry",
      ...(await countIndexedAgents(tx, indexed)),
      newWallets: 0,
      block: indexBlock,
      fault: null,
    },
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
