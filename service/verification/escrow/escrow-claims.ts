import { and, asc, eq, isNotNull, isNull, lt, or, type SQL } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { jobSpec } from "../../db/tables/verdict.ts";
import type { JobKey } from "./escrow-jobs.ts";

/** A registered specification as binding reads it. */
export type ClaimRow = {
  readonly specId: string;
  readonly specHash: Hex;
  readonly clientAddr: Address;
  readonly providerAddr: Address | null;
  readonly clientSignature: Hex | null;
  readonly registeredBlock: bigint | null;
};

/** The parties of a job on chain, in lower case. */
export type JobParties = { readonly client: Address; readonly provider: Address };

const columns = {
  specId: jobSpec.id,
  specHash: jobSpec.specHash,
  clientAddr: jobSpec.clientAddr,
  providerAddr: jobSpec.providerAddr,
  clientSignature: jobSpec.clientSignature,
  registeredBlock: jobSpec.registeredBlock,
};

/**
 * The first registered of the specifications that a job's client signed for it and its parties, and registered before a block (null:
 * whenever); null where there is none. Every stored signature is verified.
 */
export async function readFirstSigned(
  db: NodePgDatabase,
  job: JobKey,
  { before, ...parties }: JobParties & { readonly before: bigint | null },
): Promise<ClaimRow | null> {
  const inTime = before === null ? isNotNull(jobSpec.registeredBlock) : lt(jobSpec.registeredBlock, before);
  const [row] = await db
    .select(columns)
    .from(jobSpec)
    .where(and(ofJob(job), ofParties(parties), isNotNull(jobSpec.clientSignature), inTime))
    .orderBy(asc(jobSpec.createdAt), asc(jobSpec.id))
    .limit(1);
  return row ?? null;
}

/** A specification as binding reads it, with the job that it names; null where it names none, or is gone. */
export async function readClaim(
  db: NodePgDatabase,
  specId: string,
): Promise<(ClaimRow & { readonly job: JobKey }) | null> {
  const job = { chainId: jobSpec.jobChainId, escrow: jobSpec.jobEscrow, jobId: jobSpec.jobId };
  const [row] = await db
    .select({ ...columns, ...job })
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
