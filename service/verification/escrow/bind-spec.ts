import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Deployment } from "../../chain/deployments.ts";
import { findCodeChange } from "./check-code.ts";
import { readFirstSigned } from "./escrow-claims.ts";
import type { EscrowClient } from "./escrow-node.ts";
import { EscrowFailure } from "./failure.ts";
import { qualifyClaim } from "./qualify-claim.ts";
import { findEscrow, readJob } from "./read-job.ts";
import { readSubmission } from "./read-submission.ts";
import type { Binding, EscrowJob, SpecClaim } from "./types.ts";

export type BinderDeps = {
  readonly db: NodePgDatabase;
  /** Its deadlines and retries bound how long binding takes. */
  readonly client: EscrowClient;
  readonly deployment: Pick<Deployment, "chainId" | "escrows">;
};

/** Says whether a specification is its job's, as of a block or the newest. */
export type BindSpec = (claim: SpecClaim, block?: bigint) => Promise<Binding>;

/**
 * Makes what binds specifications to jobs by verification.md, section 4. A specification is its hash: registered twice it is one.
 * Signatures were verified when they were stored, and are not asked about again: a contract wallet that changes its mind binds and
 * unbinds nothing. Throws an EscrowFailure when the node does not answer, or the index lags too far to tell.
 */
export function createSpecBinder(deps: BinderDeps): BindSpec {
  return (claim, block) => bindSpec(deps, claim, block);
}

/** Says whether a specification is its job's; throws as the binder does. */
export async function bindSpec(deps: BinderDeps, claim: SpecClaim, block?: bigint): Promise<Binding> {
  const escrow = findEscrow(deps.deployment, claim.job);
  if (escrow === undefined) return unbound("the escrow is not one whose jobs are settled here");
  const change = await findCodeChange(deps.client, escrow, block);
  if (change !== null)
    return { kind: "suspended", reason: `the escrow is not what it was when it was reviewed: ${change}` };
  const job = await readJob(deps.client, escrow, {
    job: claim.job,
    ...(block === undefined ? {} : { block }),
  });
  if (job === null) return unbound("the escrow has no such job");
  const firstSubmittedBlock = claim.clientSignature === null ? null : await readFirstSubmission(deps, job);
  const qualification = qualifyClaim(claim, job, firstSubmittedBlock);
  switch (qualification.kind) {
    case "refused":
      return unbound(qualification.reason);
    case "named":
      return { kind: "bound", job, by: "description" };
    case "by_signature":
      return bindBySignature(deps, { claim, job, firstSubmittedBlock });
  }
}

/** Among the specifications that the client signed in time the first registered is the job's. */
async function bindBySignature(
  { db }: BinderDeps,
  signed: {
    readonly claim: SpecClaim;
    readonly job: EscrowJob;
    readonly firstSubmittedBlock: bigint | null;
  },
): Promise<Binding> {
  const { claim, job, firstSubmittedBlock } = signed;
  const first = await readFirstSigned(db, job, {
    client: job.client,
    provider: job.provider,
    before: firstSubmittedBlock,
  });
  // The same hash is the same specification, whoever registered it again.
  return first === null || first.specHash === claim.specHash
    ? { kind: "bound", job, by: "signature" }
    : unbound(`the client signed the specification ${first.specId}, which was registered before it`);
}

/** Block of the job's first submission by the index; null before it. */
async function readFirstSubmission({ db }: BinderDeps, job: EscrowJob): Promise<bigint | null> {
  const submission = await readSubmission(db, job);
  if (submission !== null) return submission.firstBlock;
  // Of one that ended without the evaluator it does not matter any more.
  if (job.status !== "Submitted" && job.status !== "Completed") return null;
  throw new EscrowFailure("index", `the index does not show yet how job ${job.jobId} became ${job.status}`);
}

function unbound(reason: string): Binding {
  return { kind: "unbound", reason };
}
