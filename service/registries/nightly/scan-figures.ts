import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { ScanReport } from "../../db/tables/scan-report.ts";
import type { Grade } from "../../model/score/record.ts";

/** What a scan counts of the whole chain, at the moment that it asks. */
export type ScanFigures = Pick<
  ScanReport,
  "documents" | "endpoints" | "wallets" | "grades" | "meanScoreHundredths" | "sanctioned"
>;

/** Counts documents, endpoints, followed wallets and scores; the index must be there. */
export async function readScanFigures(tx: NodePgDatabase, chainId: number): Promise<ScanFigures> {
  return {
    documents: await countStates(tx, chainId),
    endpoints: await countEndpoints(tx, chainId),
    wallets: await countWallets(tx, chainId),
    grades: await countGrades(tx, chainId),
    ...(await readMeans(tx, chainId)),
  };
}

async function countStates(tx: NodePgDatabase, chainId: number): Promise<ScanFigures["documents"]> {
  const { rows } = await tx.execute<{ state: keyof ScanFigures["documents"]; count: number }>(sql`
    select state, count(*)::int as count from ahs.agent_document where chain_id = ${chainId} group by state`);
  const counted = Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  return { current: 0, unreachable: 0, refused: 0, malformed: 0, ...counted };
}

/** One that was never visited is neither alive nor failing. */
async function countEndpoints(tx: NodePgDatabase, chainId: number): Promise<ScanFigures["endpoints"]> {
  const { rows } = await tx.execute<{ alive: number; failing: number }>(sql`
    select count(*) filter (where failing_since is null and exists (
        select from ahs.probe p where p.chain_id = s.chain_id and p.endpoint = s.endpoint))::int as alive,
      count(failing_since)::int as failing
    from ahs.probe_schedule s where chain_id = ${chainId}`);
  const { alive, failing } = only(rows);
  return { alive, failing };
}

async function countWallets(tx: NodePgDatabase, chainId: number): Promise<number> {
  const { rows } = await tx.execute<{ count: number }>(
    sql`select count(*)::int as count from ${sql.identifier(`chain_${chainId}`)}.wallet`,
  );
  return only(rows).count;
}

/** Of the grades that `takeGradeMoves` left, so that they are what the moves lead to. */
async function countGrades(tx: NodePgDatabase, chainId: number): Promise<ScanFigures["grades"]> {
  const { rows } = await tx.execute<{ grade: Grade | null; count: number }>(sql`
    select grade, count(*)::int as count from ahs.scan_grade where chain_id = ${chainId} group by grade`);
  const counted = Object.fromEntries(rows.map(({ grade, count }) => [grade ?? "insufficient", count]));
  return { A: 0, B: 0, C: 0, D: 0, E: 0, F: 0, insufficient: 0, ...counted };
}

async function readMeans(
  tx: NodePgDatabase,
  chainId: number,
): Promise<Pick<ScanFigures, "meanScoreHundredths" | "sanctioned">> {
  const { rows } = await tx.execute<{ mean: number | null; sanctioned: number }>(sql`
    select round(avg(ahs_score) * 100)::int as mean, count(*) filter (where sanctioned)::int as sanctioned
    from ahs.current_score where chain_id = ${chainId}`);
  const { mean, sanctioned } = only(rows);
  return { meanScoreHundredths: mean, sanctioned };
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

/** A root as it was made, and of how many leaves; null where there is none of that number. */
export async function readEpochFigures(
  db: NodePgDatabase,
  { chainId, epoch }: { readonly chainId: number; readonly epoch: number },
): Promise<ScanReport["root"]> {
  const { rows } = await db.execute<{ root: string; leaves: number }>(sql`
    select root, jsonb_array_length(leaves) as leaves from ahs.epoch
    where chain_id = ${chainId} and epoch = ${epoch}`);
  const [found] = rows;
  return found === undefined ? null : { epoch, root: found.root, leaves: found.leaves };
}
