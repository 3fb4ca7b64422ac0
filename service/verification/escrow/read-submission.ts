import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type IndexedSubmission, type JobKey, readEscrowIndex, readIndexedJob } from "./escrow-jobs.ts";

/** A job's newest submission by the index; null where there is none, or the index is not there or has not followed to it. */
export async function readSubmission(db: NodePgDatabase, job: JobKey): Promise<IndexedSubmission | null> {
  if ((await readEscrowIndex(db, job.chainId)) === null) return null;
  return (await readIndexedJob(db, job))?.submission ?? null;
}
