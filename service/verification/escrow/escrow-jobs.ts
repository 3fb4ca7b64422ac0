import { and, desc, eq, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Database } from "../../db/database.ts";
import { hasTables, indexOf } from "../../db/index-tables.ts";
import type { JobName } from "./types.ts";

/** Reads the newest block of an index that follows escrows, with its time in Unix seconds; null without one. */
export async function readEscrowIndex(db: NodePgDatabase, chainId: number) {
  const { block, job, verdictEvent } = indexOf(chainId);
  if (!(await hasTables(db, chainId, block, job, verdictEvent))) return null;
  const [head] = await db
    .select({ number: block.number, timestamp: block.timestamp })
    .from(block)
    .orderBy(desc(block.number))
    .limit(1);
  return head ?? null;
}

/** Reads the time of an indexed block in Unix seconds; null without such a block. */
export async function readIndexedTime(
  db: NodePgDatabase,
  chainId: number,
  number: bigint,
): Promise<bigint | null> {
  const { block } = indexOf(chainId);
  const [row] = await db.select({ timestamp: block.timestamp }).from(block).where(eq(block.number, number));
  return row?.timestamp ?? null;
}

/** The id that the index gives the job of a row's escrow and number. */
export function jobIdOf(escrow: SQLWrapper, jobId: SQLWrapper): SQL {
  return sql`${escrow} || ':' || ${jobId}`;
}

/** A job by its escrow's events: its newest submission with the block of its first, and how it ended. A null member has no event yet. */
export type IndexedJob = NonNullable<Awaited<ReturnType<typeof readIndexedJob>>>;
export type IndexedSubmission = NonNullable<IndexedJob["submission"]>;

/** Reads a job of the index; null without an event of it. */
export async function readIndexedJob(db: NodePgDatabase, { chainId, escrow, jobId }: JobName) {
  const { job } = indexOf(chainId);
  const [row] = await db
    .select({
      status: job.status,
      endedBlock: job.endedBlock,
      submission: {
        deliverable: job.deliverable,
        block: job.submittedBlock,
        blockHash: job.submittedBlockHash,
        logIndex: job.submittedLogIndex,
        firstBlock: job.firstSubmittedBlock,
      },
    })
    .from(job)
    .where(eq(job.id, `${escrow}:${jobId}`));
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
  const { job } = indexOf(chainId);
  const [row] = await db
    .select({ funded: job.funded })
    .from(job)
    .where(eq(job.id, `${escrow}:${jobId}`));
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
  const { verdictEvent: event } = indexOf(chainId);
  return db
    .select({
      decision: event.decision,
      evidenceHash: event.evidenceHash,
      block: event.block,
      transactionHash: event.transactionHash,
    })
    .from(event)
    .where(and(eq(event.escrow, escrow), eq(event.jobId, jobId)))
    .orderBy(event.block, event.id);
}

/** Reads a job's newest submission from the index; null without one, or without an index that has followed to it. */
export async function readSubmission(db: NodePgDatabase, job: JobName): Promise<IndexedSubmission | null> {
  if ((await readEscrowIndex(db, job.chainId)) === null) return null;
  return (await readIndexedJob(db, job))?.submission ?? null;
}
