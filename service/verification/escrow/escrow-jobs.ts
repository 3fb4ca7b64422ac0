import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { viewOf } from "../../db/index-snapshot.ts";

/** Key of a job; the escrow in lower case. */
export type JobKey = { readonly chainId: number; readonly escrow: Address; readonly jobId: bigint };

/** The newest submission of a job, and the block of its first. */
export type IndexedSubmission = {
  readonly deliverable: Hex;
  readonly provider: Address;
  readonly block: bigint;
  readonly blockHash: Hex;
  readonly logIndex: number;
  readonly firstBlock: bigint;
};

/** How a job ended; by and reason are null if it expired. */
export type IndexedEnd = {
  readonly status: "Completed" | "Rejected" | "Expired";
  readonly by: Address | null;
  readonly reason: Hex | null;
  readonly block: bigint;
  readonly transactionHash: Hex;
};

/** A job by its escrow's events; a null member has no event yet. */
type IndexedJob = {
  readonly submission: IndexedSubmission | null;
  readonly end: IndexedEnd | null;
};

/** An event of the evaluator about a job. */
export type IndexedVerdict = {
  readonly decision: number;
  readonly evidenceHash: Hex;
  /** Unix seconds; null without a HOLD. */
  readonly reviewBy: bigint | null;
  readonly block: bigint;
  readonly transactionHash: Hex;
};

/** Newest block of the index; its time in Unix seconds. */
type IndexedHead = { readonly number: bigint; readonly timestamp: bigint };

/** Reads the newest block of an index that follows escrows; null without one. */
export async function readEscrowIndex(db: NodePgDatabase, chainId: number): Promise<IndexedHead | null> {
  const { rows: found } = await db.execute<{ there: boolean }>(
    sql`select to_regclass(${`chain_${chainId}.block`}) is not null
      and to_regclass(${`chain_${chainId}.verdict_event`}) is not null
      and to_regclass(${`chain_${chainId}.job`}) is not null as there`,
  );
  if (found[0]?.there !== true) return null;
  const { rows } = await db.execute<{ number: string; timestamp: string }>(
    sql`select number, timestamp from ${viewOf(chainId, "block")} order by number desc limit 1`,
  );
  const [row] = rows;
  return row === undefined ? null : { number: BigInt(row.number), timestamp: BigInt(row.timestamp) };
}

/** Reads the time of an indexed block in Unix seconds; null without such a block. */
export async function readIndexedTime(
  db: NodePgDatabase,
  chainId: number,
  block: bigint,
): Promise<bigint | null> {
  const { rows } = await db.execute<{ timestamp: string }>(
    sql`select timestamp from ${viewOf(chainId, "block")} where number = ${block}`,
  );
  return rows[0] === undefined ? null : BigInt(rows[0].timestamp);
}

/** Reads a job of the index; null without an event of it. */
export async function readIndexedJob(db: NodePgDatabase, job: JobKey): Promise<IndexedJob | null> {
  const { rows } = await db.execute<JobRow>(
    sql`select status, provider, deliverable, submitted_block, submitted_block_hash, submitted_log_index,
          first_submitted_block, ended_by, end_reason, ended_block, ended_transaction
        from ${viewOf(job.chainId, "job")} where id = ${`${job.escrow}:${job.jobId}`}`,
  );
  const [row] = rows;
  return row === undefined ? null : { submission: submissionOf(row), end: endOf(row) };
}

/** Reads the evaluator's events of a job, oldest first. */
export async function readIndexedVerdicts(db: NodePgDatabase, job: JobKey): Promise<IndexedVerdict[]> {
  const { rows } = await db.execute<VerdictRow>(
    sql`select decision, evidence_hash, review_by, block, transaction_hash from ${viewOf(job.chainId, "verdict_event")}
        where escrow = ${job.escrow} and job_id = ${job.jobId} order by block, id`,
  );
  return rows.map((row) => ({
    decision: row.decision,
    evidenceHash: row.evidence_hash,
    reviewBy: row.review_by === null ? null : BigInt(row.review_by),
    block: BigInt(row.block),
    transactionHash: row.transaction_hash,
  }));
}

type JobRow = {
  status: string;
  provider: Address | null;
  deliverable: Hex | null;
  submitted_block: string | null;
  submitted_block_hash: Hex | null;
  submitted_log_index: number | null;
  first_submitted_block: string | null;
  ended_by: Address | null;
  end_reason: Hex | null;
  ended_block: string | null;
  ended_transaction: Hex | null;
};

type VerdictRow = {
  decision: number;
  evidence_hash: Hex;
  review_by: string | null;
  block: string;
  transaction_hash: Hex;
};

/** The handler writes all these columns together. */
function submissionOf(row: JobRow): IndexedSubmission | null {
  const { deliverable, provider, submitted_block: block, submitted_block_hash: blockHash } = row;
  const { submitted_log_index: logIndex, first_submitted_block: firstBlock } = row;
  if (deliverable === null || provider === null || block === null || blockHash === null) return null;
  if (logIndex === null || firstBlock === null) return null;
  return {
    deliverable,
    provider,
    block: BigInt(block),
    blockHash,
    logIndex,
    firstBlock: BigInt(firstBlock),
  };
}

function endOf(row: JobRow): IndexedEnd | null {
  const { status, ended_block: block, ended_transaction: transactionHash } = row;
  if (status !== "Completed" && status !== "Rejected" && status !== "Expired") return null;
  if (block === null || transactionHash === null) return null;
  return { status, by: row.ended_by, reason: row.end_reason, block: BigInt(block), transactionHash };
}

/** Reads a job's newest submission from the index; null without one, or without an index that has followed to it. */
export async function readSubmission(db: NodePgDatabase, job: JobKey): Promise<IndexedSubmission | null> {
  if ((await readEscrowIndex(db, job.chainId)) === null) return null;
  return (await readIndexedJob(db, job))?.submission ?? null;
}
