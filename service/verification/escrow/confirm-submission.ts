import { jobEscrowEvents } from "../../chain/escrow-events.ts";
import type { IndexedSubmission } from "./escrow-jobs.ts";
import { askNode, type EscrowClient, readBlock } from "./escrow-node.ts";
import type { JobName } from "./types.ts";

/**
 * Whether the node's own chain has a job's submission in the block where the index saw it, read by that block's hash. Throws an
 * EscrowFailure without an answer.
 */
export async function confirmSubmission(
  client: EscrowClient,
  { escrow, jobId }: JobName,
  submission: IndexedSubmission,
): Promise<boolean> {
  const block = await readBlock(client, submission.block);
  // A node may remember blocks that its chain has left.
  if (block.hash !== submission.blockHash) return false;
  const logs = await askNode(() =>
    client.getLogs({
      address: escrow,
      event: SUBMITTED,
      args: { jobId },
      blockHash: submission.blockHash,
      strict: true,
    }),
  );
  return logs.some(
    ({ logIndex, args }) => logIndex === submission.logIndex && args.deliverable === submission.deliverable,
  );
}

const [, SUBMITTED] = jobEscrowEvents;
