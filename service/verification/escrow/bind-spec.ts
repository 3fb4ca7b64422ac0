import { and, asc, eq, isNotNull, isNull, lt, or, type SQL } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import type { Deployment } from "../../chain/deployments.ts";
import { jobSpec } from "../../db/tables/verdict.ts";
import { type JobKey, readSubmission } from "./escrow-jobs.ts";
import { type EscrowClient, EscrowFailure, findCodeChange, findEscrow, readJob } from "./escrow-node.ts";
import type { Binding, EscrowJob, SpecClaim } from "./types.ts";

type BinderDeps = {
  readonly db: NodePgDatabase;
  /** Its deadlines and retries limit the time of binding. */
  readonly client: EscrowClient;
  readonly deployment: Pick<Deployment, "chainId" | "escrows">;
};

/** Says if a specification is its job's, as of a block or the newest one. */
type BindSpec = (claim: SpecClaim, block?: bigint) => Promise<Binding>;

/**
 * Creates the binder of specifications to jobs (verification.md, section 4). A specification is identified by its hash, even if it is
 * registered twice. Signatures were verified at registration and are not checked again, so a contract wallet cannot bind or unbind later.
 * Throws an EscrowFailure if the node does not answer or the index lags too far.
 */
export function createSpecBinder(deps: BinderDeps): BindSpec {
  return (claim, block) => bindSpec(deps, claim, block);
}

/** Says if a specification is its job's; throws like the binder. */
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

/** Of the specifications that the client signed in time, the first registered one is the job's. */
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
  // The same hash is the same specification, also if another account registered it again.
  return first === null || first.specHash === claim.specHash
    ? { kind: "bound", job, by: "signature" }
    : unbound(`the client signed the specification ${first.specId}, which was registered before it`);
}

/** Block of the job's first submission in the index; null before it. */
async function readFirstSubmission({ db }: BinderDeps, job: EscrowJob): Promise<bigint | null> {
  const submission = await readSubmission(db, job);
  if (submission !== null) return submission.firstBlock;
  // It does not matter for a job that ended without the evaluator.
  if (job.status !== "Submitted" && job.status !== "Completed") return null;
  throw new EscrowFailure("index", `the index does not show yet how job ${job.jobId} became ${job.status}`);
}

function unbound(reason: string): Binding {
  return { kind: "unbound", reason };
}

/** Remaining check of a claim. */
type Qualification =
  /** The description names its hash. */
  | { readonly kind: "named" }
  /** The client signed it in time: it binds unless another signed one was registered before it. */
  | { readonly kind: "by_signature" }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Decides how a specification can bind to a job, without regard to other specifications (verification.md, section 4). Its signature is
 * verified. The block of the job's first submission is null before a submission. A description with several hashes names none.
 */
export function qualifyClaim(
  claim: Pick<SpecClaim, "specHash" | "clientAddr" | "providerAddr" | "clientSignature" | "registeredBlock">,
  job: Pick<EscrowJob, "client" | "provider" | "description">,
  firstSubmittedBlock: bigint | null,
): Qualification {
  if (claim.clientAddr !== job.client)
    return refused(`the job's client is ${job.client}, not ${claim.clientAddr}`);
  if (claim.providerAddr !== null && claim.providerAddr !== job.provider)
    return refused(`the job's provider is ${job.provider}, not ${claim.providerAddr}`);
  const named = specHashesIn(job.description);
  if (named.length > 1) return refused("the job's description names more than one specification");
  const [hash] = named;
  if (hash !== undefined) {
    return hash === claim.specHash.toLowerCase()
      ? { kind: "named" }
      : refused(`the job's description names the specification ${hash}`);
  }
  if (claim.clientSignature === null)
    return refused("the job's description names no specification, and the client signed none");
  if (claim.registeredBlock === null) return refused("it is not known when it was registered");
  if (firstSubmittedBlock !== null && claim.registeredBlock >= firstSubmittedBlock)
    return refused(`it was registered at block ${claim.registeredBlock}, after the job's submission`);
  return { kind: "by_signature" };
}

function refused(reason: string): Qualification {
  return { kind: "refused", reason };
}

/** Adjacent words or longer hexadecimal numbers do not match. */
const MARK = /(?<![\w-])ahs-spec:(0x[0-9a-fA-F]{64})(?!\w)/g;

/** Hashes of specifications that a job's description names as `ahs-spec:0x…`, in lower case, each once. */
export function specHashesIn(description: string): Hex[] {
  const hashes = Array.from(description.matchAll(MARK), ([, hash]) => hash?.toLowerCase() as Hex);
  return [...new Set(hashes)];
}

/** Columns of a registered specification that binding reads. */
type ClaimRow = {
  readonly specId: string;
  readonly specHash: Hex;
  readonly clientAddr: Address;
  readonly providerAddr: Address | null;
  readonly clientSignature: Hex | null;
  readonly registeredBlock: bigint | null;
};

/** The parties of a job on chain, in lower case. */
type JobParties = { readonly client: Address; readonly provider: Address };

const CLAIM_COLUMNS = {
  specId: jobSpec.id,
  specHash: jobSpec.specHash,
  clientAddr: jobSpec.clientAddr,
  providerAddr: jobSpec.providerAddr,
  clientSignature: jobSpec.clientSignature,
  registeredBlock: jobSpec.registeredBlock,
};

/**
 * Reads the first registered specification that a job's client signed for it and its parties, registered before a block (null: at any
 * time); null without one. Every stored signature is verified.
 */
export async function readFirstSigned(
  db: NodePgDatabase,
  job: JobKey,
  { before, ...parties }: JobParties & { readonly before: bigint | null },
): Promise<ClaimRow | null> {
  const inTime = before === null ? isNotNull(jobSpec.registeredBlock) : lt(jobSpec.registeredBlock, before);
  const [row] = await db
    .select(CLAIM_COLUMNS)
    .from(jobSpec)
    .where(and(ofJob(job), ofParties(parties), isNotNull(jobSpec.clientSignature), inTime))
    .orderBy(asc(jobSpec.createdAt), asc(jobSpec.id))
    .limit(1);
  return row ?? null;
}

/** Reads a specification for binding, with the job that it names; null if it names none or does not exist. */
export async function readClaim(
  db: NodePgDatabase,
  specId: string,
): Promise<(ClaimRow & { readonly job: JobKey }) | null> {
  const job = { chainId: jobSpec.jobChainId, escrow: jobSpec.jobEscrow, jobId: jobSpec.jobId };
  const [row] = await db
    .select({ ...CLAIM_COLUMNS, ...job })
    .from(jobSpec)
    .where(eq(jobSpec.id, specId));
  if (row === undefined) return null;
  const { chainId, escrow, jobId, ...claim } = row;
  if (chainId === null || escrow === null || jobId === null) return null;
  return { ...claim, job: { chainId, escrow, jobId } };
}

function ofJob({ chainId, escrow, jobId }: JobKey): SQL | undefined {
  return and(eq(jobSpec.jobChainId, chainId), eq(jobSpec.jobEscrow, escrow), eq(jobSpec.jobId, jobId));
}

function ofParties({ client, provider }: JobParties): SQL | undefined {
  return and(
    eq(jobSpec.clientAddr, client),
    or(isNull(jobSpec.providerAddr), eq(jobSpec.providerAddr, provider)),
  );
}
