import type { Hex } from "viem";
import { verdictEvaluatorAbi } from "../../chain/abi/verdict-evaluator.ts";
import { bindSpec } from "./bind-spec.ts";
import { findCodeChange } from "./check-code.ts";
import { confirmSubmission } from "./confirm-submission.ts";
import type { SigningSight } from "./decide-signing.ts";
import { readClaim } from "./escrow-claims.ts";
import type { EscrowDeps } from "./escrow-deps.ts";
import { type IndexedSubmission, readIndexedJob } from "./escrow-jobs.ts";
import { askNode, type ChainBlock } from "./escrow-node.ts";
import { findEscrow, readJob } from "./read-job.ts";
import type { UnsignedDecision } from "./settlement-checks.ts";
import type { Binding, SpecClaim } from "./types.ts";

/** The node's newest block and its newest final one. */
export type Heads = { readonly head: ChainBlock; readonly final: ChainBlock };

/** A decision as it is found on chain, with the submission that it would be signed for. */
export type Looked = { readonly sight: SigningSight; readonly submission: IndexedSubmission | null };

/**
 * Verifies anew everything that a decision's signature depends on, on the final chain; the escrow's code as of the newest block
 * as well. Throws an EscrowFailure when node or index do not tell.
 */
export async function lookAtDecision(
  deps: EscrowDeps,
  decision: UnsignedDecision,
  { head, final }: Heads,
): Promise<Looked> {
  const job = { ...decision.job, escrow: decision.job.escrow as Hex };
  const escrow = findEscrow(deps.deployment, job);
  const found = { evaluator: deps.evaluator.toLowerCase(), head, final, decision, earlier: null };
  if (escrow === undefined) {
    const codeChange = "it is not among those whose jobs are settled here any more";
    const binding: Binding = { kind: "unbound", reason: codeChange };
    return { sight: { ...found, codeChange, job: null, binding, submission: null }, submission: null };
  }
  const codeChange = await findCodeChange(deps.client, escrow);
  const submission = (await readIndexedJob(deps.db, job))?.submission ?? null;
  const isFinal = submission !== null && submission.block <= final.number;
  const isConfirmed = isFinal && (await confirmSubmission(deps.client, job, submission));
  const told = await readJob(deps.client, escrow, { job, block: final.number });
  const sight = {
    ...found,
    codeChange,
    job: told === null ? null : { ...told, generation: escrow.generation },
    earlier: await readEarlier(deps, decision, final.number),
    binding: await bind(deps, decision, final.number),
    submission:
      submission === null
        ? null
        : { block: submission.block, deliverable: submission.deliverable, isConfirmed },
  };
  return { sight, submission };
}

/** The signature that ran out, and whether it was used before. */
async function readEarlier(
  { client, evaluator }: EscrowDeps,
  { earlier, job }: UnsignedDecision,
  blockNumber: bigint,
): Promise<SigningSight["earlier"]> {
  if (earlier === null) return null;
  const decided = await askNode(() =>
    client.readContract({
      address: evaluator,
      abi: verdictEvaluatorAbi,
      functionName: "decisionOf",
      // Typed when the job was bound; text columns forget it.
      args: [job.escrow as Hex, job.jobId],
      blockNumber,
    }),
  );
  return { deadline: BigInt(earlier.deadline), decided };
}

async function bind(deps: EscrowDeps, decision: UnsignedDecision, block: bigint): Promise<Binding> {
  const claim = await readClaim(deps.db, decision.specId);
  const { chainId, escrow, jobId } = decision.job;
  const isOfJob = claim?.job.chainId === chainId && claim.job.escrow === escrow && claim.job.jobId === jobId;
  if (!isOfJob) return { kind: "unbound", reason: "its specification names another job" };
  // Typed when it was registered; text columns forget it.
  return bindSpec(deps, claim as SpecClaim, block);
}
