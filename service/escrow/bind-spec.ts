import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import type { Deployment } from "../chain/deployments.ts";
import { type ClaimRow, readSignedClaims } from "../store/escrow-claims.ts";
import { readEscrowIndex, readIndexedJob } from "../store/escrow-jobs.ts";
import { findCodeChange } from "./check-code.ts";
import { type EscrowClient, isSignedBy } from "./escrow-node.ts";
import { EscrowFailure } from "./failure.ts";
import { qualifyClaim } from "./qualify-claim.ts";
import { findEscrow, readJob } from "./read-job.ts";
import { specBindingDigest } from "./spec-binding.ts";
import type { Binding, EscrowJob, SpecClaim } from "./types.ts";

export type BinderDeps = {
  readonly db: NodePgDatabase;
  /** Its deadlines and retries bound how long binding takes. */
  readonly client: EscrowClient;
  readonly deployment: Pick<Deployment, "chainId" | "escrows" | "verdictEvaluator">;
};

/** Says whether a specification is its job's, as of a block or the newest. */
export type BindSpec = (claim: SpecClaim, block?: bigint) => Promise<Binding>;

/** Signed claims of one job that are looked at: strangers can register as many as they like. */
const MOST_CLAIMS = 500;

/**
 * Makes what binds specifications to jobs by verification.md, section 4. A specification is its hash: registered twice it is one.
 * The claim itself need not be stored yet: it then counts as registered last. Throws an EscrowFailure when the node does not answer, or the index lags too far to tell.
 */
export function createSpecBinder(deps: BinderDeps): BindSpec {
  return (claim, block) => bindSpec(deps, claim, block);
}

/** Says whether a specification is its job's; throws as the binder does. */
export async function bindSpec(deps: BinderDeps, claim: SpecClaim, block?: bigint): Promise<Binding> {
  const escrow = findEscrow(deps.deployment, claim.job);
  if (escrow === undefined) return unbound("the escrow is not one whose jobs are settled here");
  const job = await readJob(deps.client, escrow, {
    job: claim.job,
    ...(block === undefined ? {} : { block }),
  });
  if (job === null) return unbound("the escrow has no such job");
  const change = await findCodeChange(deps.client, escrow, block);
  if (change !== null) return unbound(`the escrow is not what it was when it was reviewed: ${change}`);
  const firstSubmittedBlock = claim.clientSignature === null ? null : await readFirstSubmission(deps, job);
  const qualification = qualifyClaim(claim, job, firstSubmittedBlock);
  switch (qualification.kind) {
    case "refused":
      return unbound(qualification.reason);
    case "named":
      return { kind: "bound", job, by: "description" };
    case "by_signature":
      return bindBySignature(deps, { claim, job, firstSubmittedBlock, block });
  }
}

type SignedCase = {
  readonly claim: SpecClaim;
  readonly job: EscrowJob;
  readonly firstSubmittedBlock: bigint | null;
  readonly block: bigint | undefined;
};

async function bindBySignature(deps: BinderDeps, signed: SignedCase): Promise<Binding> {
  const { claim, job, firstSubmittedBlock } = signed;
  const evaluator = deps.deployment.verdictEvaluator;
  if (evaluator === null) return unbound("no evaluator is deployed that the client's signature could name");
  const isSigned = ({ specHash, clientSignature: signature }: SpecClaim) => {
    if (signature === null) return false;
    const digest = specBindingDigest(evaluator.address, job, specHash);
    return isSignedBy(deps.client, { signer: job.client, digest, signature }, signed.block);
  };
  if (!(await isSigned(claim))) return unbound("the signature is not one of the job's client");
  const rows = await readSignedClaims(deps.db, job, {
    client: job.client,
    provider: job.provider,
    limit: MOST_CLAIMS,
  });
  for (const row of rows) {
    const first = claimOf(row, claim);
    if (qualifyClaim(first, job, firstSubmittedBlock).kind !== "by_signature") continue;
    if (!(await isSigned(first))) continue;
    // The same hash is the same specification, whoever registered it again.
    return first.specHash === claim.specHash
      ? { kind: "bound", job, by: "signature" }
      : unbound(`the client signed the specification ${row.specId}, which was registered before it`);
  }
  if (rows.length === MOST_CLAIMS)
    return unbound(`more than ${MOST_CLAIMS} specifications were registered for the job before it`);
  return { kind: "bound", job, by: "signature" };
}

/** Block of the job's first submission by the index; null before it. */
async function readFirstSubmission({ db }: BinderDeps, job: EscrowJob): Promise<bigint | null> {
  const isThere = (await readEscrowIndex(db, job.chainId)) !== null;
  const indexed = isThere ? await readIndexedJob(db, job) : null;
  const submission = indexed?.submission ?? null;
  if (submission !== null) return submission.firstBlock;
  // Of one that ended without the evaluator it does not matter any more.
  if (job.status !== "Submitted" && job.status !== "Completed") return null;
  throw new EscrowFailure("index", `the index does not show yet how job ${job.jobId} became ${job.status}`);
}

function claimOf(row: ClaimRow, { job }: SpecClaim): SpecClaim {
  return {
    specId: row.specId,
    // Typed when it was registered; text columns forget it.
    specHash: row.specHash as Hex,
    clientAddr: row.clientAddr as Address,
    providerAddr: row.providerAddr as Address | null,
    clientSignature: row.clientSignature as Hex | null,
    job,
    registeredBlock: row.registeredBlock,
  };
}

function unbound(reason: string): Binding {
  return { kind: "unbound", reason };
}
