import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Deployment } from "../../chain/deployments.ts";
import { holdChain } from "../../db/chain-fence.ts";
import { lowerCase } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import type { RootReport, ScanReport } from "../../db/tables/scan.ts";
import type { Grade } from "../../model/score/record.ts";
import { agentBatches, countDocuments, countDocumentsLeft } from "../documents/agent-documents.ts";
import type { RegistryReading } from "../readers/read-registry.ts";
import {
  countIndexedAgents,
  countRegistryAgents,
  countRequestedWallets,
} from "../readers/registry-agents.ts";
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

const MOVES_SHOWN = 100;

/**
 * Compares the grade of every wallet with the one that the scan before left here, and leaves the present ones for the next,
 * in one statement: whatever moves meanwhile is the next one's. Returns how many moved, and the first hundred by wallet.
 */
async function takeGradeMoves(tx: NodePgDatabase, chainId: number) {
  const { rows } = await tx.execute<ScanReport["gradeMoves"][number] & { count: number }>(sql`
    with compared as (
      select wallet, g.grade as before, c.grade as after, g.wallet is null as is_new, c.wallet is null as is_gone
      from (select wallet, grade from ahs.current_score where chain_id = ${chainId}) c
      full join (select wallet, grade from ahs.scan_grade where chain_id = ${chainId}) g using (wallet)
      where g.wallet is null or c.wallet is null or c.grade is distinct from g.grade
    ), dropped as (
      delete from ahs.scan_grade s using compared m
      where m.is_gone and s.chain_id = ${chainId} and s.wallet = m.wallet
    ), kept as (
      insert into ahs.scan_grade (chain_id, wallet, grade)
      select ${chainId}, wallet, after from compared where not is_gone
      on conflict (chain_id, wallet) do update set grade = excluded.grade
    )
    select wallet, before as from, after as to, count(*) over ()::int as count from compared
    where before is distinct from after order by wallet limit ${MOVES_SHOWN}`);
  return { count: rows[0]?.count ?? 0, first: rows.map(({ count: _, ...move }) => move) };
}

/**
 * Has documents that no scan has found before be compared with what they say now, a batch of agents at a time. Throws the
 * signal's reason between two batches when it fires.
 */
export async function markNewDocuments(db: Database, chainId: number, signal: AbortSignal): Promise<void> {
  for await (const { above, upTo } of agentBatches(db, chainId, signal)) {
    await db.$client.query(
      `update ahs.agent_document set scanned_hash = content_hash
       where chain_id = $1 and agent_id > $2::numeric and agent_id <= $3::numeric
         and scanned_hash is null and content_hash is not null`,
      [chainId, above, upTo],
    );
  }
}

/**
 * Counts documents whose content changed since the last scan, and stores the present content for the next. Documents
 * that were never read before do not count; `markNewDocuments` writes those first.
 */
async function takeChangedDocuments(tx: NodePgDatabase, chainId: number): Promise<number> {
  const { rows } = await tx.execute<{ changed: number }>(sql`
    with compared as (
      select agent_id, content_hash, scanned_hash from ahs.agent_document
      where chain_id = ${chainId} and content_hash is not null and content_hash is distinct from scanned_hash
    ), kept as (
      update ahs.agent_document d set scanned_hash = c.content_hash
      from compared c where d.chain_id = ${chainId} and d.agent_id = c.agent_id
    )
    select count(*) filter (where scanned_hash is not null)::int as changed from compared`);
  return Number(rows[0]?.changed);
}

/** Counts documents, endpoints, followed wallets and scores of the whole chain; the index must be there. */
async function readScanFigures(tx: NodePgDatabase, chainId: number) {
  return {
    documents: await countDocuments(tx, chainId),
    endpoints: await countEndpoints(tx, chainId),
    wallets: await countWallets(tx, chainId),
    grades: await countGrades(tx, chainId),
    ...(await readMeans(tx, chainId)),
  };
}

/** One that was never visited is neither alive nor failing. */
async function countEndpoints(tx: NodePgDatabase, chainId: number): Promise<ScanReport["endpoints"]> {
  const { rows } = await tx.execute<ScanReport["endpoints"]>(sql`
    select count(*) filter (where failing_since is null and exists (
        select from ahs.probe p where p.chain_id = s.chain_id and p.endpoint = s.endpoint))::int as alive,
      count(failing_since)::int as failing
    from ahs.probe_schedule s where chain_id = ${chainId}`);
  return only(rows);
}

async function countWallets(tx: NodePgDatabase, chainId: number): Promise<number> {
  const { rows } = await tx.execute<{ count: number }>(
    sql`select count(*)::int as count from ${sql.identifier(`chain_${chainId}`)}.wallet`,
  );
  return only(rows).count;
}

/** Of the grades that `takeGradeMoves` left, so that they are what the moves lead to. */
async function countGrades(tx: NodePgDatabase, chainId: number): Promise<ScanReport["grades"]> {
  const { rows } = await tx.execute<{ grade: Grade | null; count: number }>(sql`
    select grade, count(*)::int as count from ahs.scan_grade where chain_id = ${chainId} group by grade`);
  const counted = Object.fromEntries(rows.map(({ grade, count }) => [grade ?? "insufficient", count]));
  return { A: 0, B: 0, C: 0, D: 0, E: 0, F: 0, insufficient: 0, ...counted };
}

async function readMeans(tx: NodePgDatabase, chainId: number) {
  const { rows } = await tx.execute<Pick<ScanReport, "meanScoreHundredths" | "sanctioned">>(sql`
    select round(avg(ahs_score) * 100)::int as "meanScoreHundredths",
      count(*) filter (where sanctioned)::int as sanctioned
    from ahs.current_score where chain_id = ${chainId}`);
  return only(rows);
}

/** An aggregate without groups answers one row, always. */
function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error("expected one row of an aggregate, got none");
  return row;
}

/** Whether a wallet of the chain has been scored. */
export async function hasScores(db: NodePgDatabase, chainId: number): Promise<boolean> {
  const { rows } = await db.execute<{ there: boolean }>(
    sql`select exists (select from ahs.current_score where chain_id = ${chainId}) as there`,
  );
  return only(rows).there;
}

/** Reads an epoch's root and its number of leaves; null without an epoch of that number. */
export async function readEpochFigures(
  db: NodePgDatabase,
  { chainId, epoch }: { readonly chainId: number; readonly epoch: number },
): Promise<ScanReport["root"]> {
  const { rows } = await db.execute<NonNullable<ScanReport["root"]>>(sql`
    select epoch::float8 as epoch, root, jsonb_array_length(leaves) as leaves from ahs.epoch
    where chain_id = ${chainId} and epoch = ${epoch}`);
  return rows[0] ?? null;
}
