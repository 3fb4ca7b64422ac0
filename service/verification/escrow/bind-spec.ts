import { and, asc, eq, isNotNull, isNull, lt, or } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import type { Deployment } from "../../chain/deployments.ts";
import { jobSpec } from "../../db/tables/verdict.ts";
import { readSubmission } from "./escrow-jobs.ts";
import { type EscrowClient, EscrowFailure, findCodeChange, findEscrow, readJob } from "./escrow-node.ts";
import { type BindableSpec, type Binding, type EscrowJob, type JobName, jobOf } from "./types.ts";

/**
 * Says if a specification is its job's, as of a block or the newest one. A specification is identified by its
 * hash, even if it is registered twice. Signatures were verified at registration and are not checked again, so a contract wallet cannot bind
 * or unbind later. The client's deadlines and retries limit the time. Throws an EscrowFailure if the node does not answer or the index lags
 * too far.
 */
export async function bindSpec(
  deps: { db: NodePgDatabase; client: EscrowClient; deployment: Pick<Deployment, "chainId" | "escrows"> },
  spec: BindableSpec,
  block?: bigint,
): Promise<Binding> {
  const escrow = findEscrow(deps.deployment, spec.job);
  if (escrow === undefined) return unbound("the escrow is not one whose jobs are settled here");
  const change = await findCodeChange(deps.client, escrow, block);
  if (change !== null)
    return { kind: "suspended", reason: `the escrow is not what it was when it was reviewed: ${change}` };
  const job = await readJob(deps.client, escrow, { job: spec.job, block });
  if (job === null) return unbound("the escrow has no such job");
  const firstSubmittedBlock = spec.clientSignature === null ? null : await readFirstSubmission(deps.db, job);
  const qualification = qualifySpec(spec, job, firstSubmittedBlock);
  switch (qualification.kind) {
    case "refused":
      return unbound(qualification.reason);
    case "named":
      return { kind: "bound", job, by: "description" };
    case "by_signature": {
      const first = await readFirstSigned(deps.db, job, firstSubmittedBlock);
      // The same hash is the same specification, also if another account registered it again.
      return first === null || first.specHash === spec.specHash
        ? { kind: "bound", job, by: "signature" }
        : unbound(`the client signed the specification ${first.specId}, which was registered before it`);
    }
  }
}

/** Block of the job's first submission in the index; null before it. */
async function readFirstSubmission(db: NodePgDatabase, job: EscrowJob): Promise<bigint | null> {
  const submission = await readSubmission(db, job);
  if (submission !== null) return submission.firstBlock;
  // It does not matter for a job that ended without the evaluator.
  if (job.status !== "Submitted" && job.status !== "Completed") return null;
  throw new EscrowFailure("index", `the index does not show yet how job ${job.jobId} became ${job.status}`);
}

function unbound(reason: string): Binding {
  return { kind: "unbound", reason };
}

/**
 * Decides how a specification can bind to a job, without regard to other specifications. Its signature is
 * verified. The block of the job's first submission is null before a submission. A description with several hashes names none. by_signature:
 * it binds unless another signed one was registered before it.
 */
export function qualifySpec(
  spec: Omit<BindableSpec, "specId" | "job">,
  job: Pick<EscrowJob, "client" | "provider" | "description">,
  firstSubmittedBlock: bigint | null,
): { kind: "named" | "by_signature" } | { kind: "refused"; reason: string } {
  if (spec.clientAddr !== job.client)
    return refused(`the job's client is ${job.client}, not ${spec.clientAddr}`);
  if (spec.providerAddr !== null && spec.providerAddr !== job.provider)
    return refused(`the job's provider is ${job.provider}, not ${spec.providerAddr}`);
  const named = specHashesIn(job.description);
  if (named.length > 1) return refused("the job's description names more than one specification");
  const [hash] = named;
  if (hash !== undefined) {
    return hash === spec.specHash.toLowerCase()
      ? { kind: "named" }
      : refused(`the job's description names the specification ${hash}`);
  }
  if (spec.clientSignature === null)
    return refused("the job's description names no specification, and the client signed none");
  if (spec.registeredBlock === null) return refused("it is not known when it was registered");
  if (firstSubmittedBlock !== null && spec.registeredBlock >= firstSubmittedBlock)
    return refused(`it was registered at block ${spec.registeredBlock}, after the job's submission`);
  return { kind: "by_signature" };
}

function refused(reason: string) {
  return { kind: "refused", reason } as const;
}

/** Adjacent words or longer hexadecimal numbers do not match. A second 0x before the hash is accepted. */
const MARK = /(?<![\w-])ahs-spec:(?:0x)?(0x[0-9a-fA-F]{64})(?!\w)/g;

/** The tag in a job's description that names its specification. */
export function jobTagOf(specHash: Hex): string {
  return `ahs-spec:${specHash}`;
}

/** Hashes of specifications that a job's description names by their tags, in lower case, each once. */
export function specHashesIn(description: string): Hex[] {
  const hashes = Array.from(description.matchAll(MARK), ([, hash]) => hash?.toLowerCase() as Hex);
  return [...new Set(hashes)];
}

const SPEC_COLUMNS = {
  specId: jobSpec.id,
  specHash: jobSpec.specHash,
  clientAddr: jobSpec.clientAddr,
  providerAddr: jobSpec.providerAddr,
  clientSignature: jobSpec.clientSignature,
  registeredBlock: jobSpec.registeredBlock,
};

/**
 * Reads the first registered specification that a job's client signed for it and its provider, registered before a block (null: at any
 * time); null without one. Every stored signature is verified.
 */
export async function readFirstSigned(
  db: NodePgDatabase,
  { chainId, escrow, jobId, client, provider }: JobName & Pick<EscrowJob, "client" | "provider">,
  before: bigint | null,
): Promise<Omit<BindableSpec, "job"> | null> {
  const [row] = await db
    .select(SPEC_COLUMNS)
    .from(jobSpec)
    .where(
      and(
        eq(jobSpec.jobChainId, chainId),
        eq(jobSpec.jobEscrow, escrow),
        eq(jobSpec.jobId, jobId),
        eq(jobSpec.clientAddr, client),
        or(isNull(jobSpec.providerAddr), eq(jobSpec.providerAddr, provider)),
        isNotNull(jobSpec.clientSignature),
        before === null ? isNotNull(jobSpec.registeredBlock) : lt(jobSpec.registeredBlock, before),
      ),
    )
    .orderBy(asc(jobSpec.createdAt), asc(jobSpec.id))
    .limit(1);
  return row ?? null;
}

/** Reads a specification for binding; null if it names no job of an escrow or does not exist. */
export async function readBindable(db: NodePgDatabase, specId: string): Promise<BindableSpec | null> {
  const { jobChainId, jobEscrow, jobId } = jobSpec;
  const [row] = await db
    .select({ ...SPEC_COLUMNS, named: { jobChainId, jobEscrow, jobId } })
    .from(jobSpec)
    .where(eq(jobSpec.id, specId));
  const job = row === undefined ? null : jobOf(row.named);
  return row === undefined || job === null ? null : { ...row, job };
}
