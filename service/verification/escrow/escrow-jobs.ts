import { type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { viewOf } from "../../db/index-snapshot.ts";
import type { JobName } from "./types.ts";

/** Number of the index, which the driver returns as text. */
function numberOf(column: string): SQL<bigint> {
  return sql`${sql.identifier(column)}`.mapWith(BigInt);
}

/** Reads the newest block of an index that follows escrows, with its time in Unix seconds; null without one. */
export async function readEscrowIndex(db: NodePgDatabase, chainId: number) {
  const { rows: found } = await db.execute<{ there: boolean }>(
    sql`select to_regclass(${`chain_${chainId}.block`}) is not null
      and to_regclass(${`chain_${chainId}.verdict_event`}) is not null
      and to_regclass(${`chain_${chainId}.job`}) is not null as there`,
  );
  if (found[0]?.there !== true) return null;
  const [head] = await db
    .select({ number: numberOf("number"), timestamp: numberOf("timestamp") })
    .from(viewOf(chainId, "block"))
    .orderBy(sql`number desc`)
    .limit(1);
  return head ?? null;
}

/** Reads the time of an indexed block in Unix seconds; null without such a block. */
export async function readIndexedTime(
  db: NodePgDatabase,
  chainId: number,
  block: bigint,
): Promise<bigint | null> {
  const [row] = await db
    .select({ timestamp: numberOf("timestamp") })
    .from(viewOf(chainId, "block"))
    .where(sql`number = ${block}`);
  return row?.timestamp ?? null;
}

/** A job by its escrow's events: its newest submission with the block of its first, and how it ended. A null member has no event yet. */
export type IndexedJob = NonNullable<Awaited<ReturnType<typeof readIndexedJob>>>;
export type IndexedSubmission = NonNullable<IndexedJob["submission"]>;

/** Reads a job of the index; null without an event of it. */
export async function readIndexedJob(db: NodePgDatabase, { chainId, escrow, jobId }: JobName) {
  const [row] = await db
    .select({
      status: sql<string>`status`,
      endedBlock: numberOf("ended_block") as SQL<bigint | null>,
      submission: {
        deliverable: sql<Hex | null>`deliverable`,
        block: numberOf("submitted_block") as SQL<bigint | null>,
        blockHash: sql<Hex | null>`submitted_block_hash`,
        logIndex: sql<number | null>`submitted_log_index`,
        firstBlock: numberOf("first_submitted_block") as SQL<bigint | null>,
      },
    })
    .from(viewOf(chainId, "job"))
    .where(sql`id = ${`${escrow}:${jobId}`}`);
  if (row === undefined) return null;
  const { status, endedBlock: block } = row;
  const isOver = status === "Completed" || status === "Rejected" || status === "Expired";
  return {
    submission: ifComplete(row.submission),
    end: isOver && block !== null ? { status, block } : null,
  };
}

/** Reads what a job was funded with, in its token's smallest unit; null if the index has not seen that, or follows no escrow. */
export async function readFunded(db: Database, { chainId, escrow, jobId }: JobName): Promise<bigint | null> {
  if ((await readEscrowIndex(db, chainId)) === null) return null;
  const [row] = await db
    .select({ funded: numberOf("funded") as SQL<bigint | null> })
    .from(viewOf(chainId, "job"))
    .where(sql`id = ${`${escrow}:${jobId}`}`);
  return row?.funded ?? null;
}

/** The handler writes all columns of an event together. */
function ifComplete<Row extends object>(row: Row): { [Key in keyof Row]: NonNullable<Row[Key]> } | null {
  // None of its values is null.
  return Object.values(row).includes(null) ? null : (row as { [Key in keyof Row]: NonNullable<Row[Key]> });
}

/** An event of the evaluator about a job. */
export type IndexedVerdict = Awaited<ReturnType<typeof readIndexedVerdicts>>[number];

/** Reads the evaluator's events of a job, oldest first. */
export async function readIndexedVerdicts(db: NodePgDatabase, { chainId, escrow, jobId }: JobName) {
  return db
    .select({
      decision: sql<number>`decision`,
      evidenceHash: sql<Hex>`evidence_hash`,
      block: numberOf("block"),
      transactionHash: sql<Hex>`transaction_hash`,
    })
    .from(viewOf(chainId, "verdict_event"))
    .where(sql`escrow = ${escrow} and job_id = ${jobId}`)
    .orderBy(sql`block, id`);
}

/** Reads a job's newest submission from the index; null without one, or without an index that has followed to it. */
export async function readSubmission(db: NodePgDatabase, job: JobName): Promise<IndexedSubmission | null> {
  if ((await readEscrowIndex(db, job.chainId)) === null) return null;
  return (await readIndexedJob(db, job))?.submission ?? null;
}
