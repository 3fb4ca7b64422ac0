import { type Address, zeroAddress } from "viem";
import { jobsG1Abi } from "../../chain/abi/jobs-g1.ts";
import { jobsG3Abi } from "../../chain/abi/jobs-g3.ts";
import { jobsV3Abi } from "../../chain/abi/jobs-v3.ts";
import type { Deployment } from "../../chain/deployments.ts";
import { askNode, type EscrowClient, isRevert } from "./escrow-node.ts";
import { EscrowFailure } from "./failure.ts";
import { type EscrowJob, JOB_STATUSES, type JobName } from "./types.ts";

/** An escrow of the deployment. */
export type KnownEscrow = Deployment["escrows"][number];

/** The deployment's escrow of that chain and address; undefined for any other. */
export function findEscrow(
  { chainId, escrows }: Pick<Deployment, "chainId" | "escrows">,
  job: JobName,
): KnownEscrow | undefined {
  if (job.chainId !== chainId) return undefined;
  return escrows.find(({ address }) => address.toLowerCase() === job.escrow.toLowerCase());
}

/**
 * A job as its escrow tells it, as of a block or the newest; null for an id never given. Throws an EscrowFailure when the
 * node gives no usable answer within the client's deadline and retries, and when the answer is not of the generation.
 */
export async function readJob(
  client: EscrowClient,
  escrow: KnownEscrow,
  { job, block }: { readonly job: JobName; readonly block?: bigint },
): Promise<EscrowJob | null> {
  try {
    const told = await askNode(() => readTold(client, escrow, job.jobId, block));
    return told.client === zeroAddress ? null : jobOf(job, told);
  } catch (error) {
    if (isRevert(error)) return null;
    throw error;
  }
}

/** The members that all generations have. */
type Told = {
  readonly client: Address;
  readonly provider: Address;
  readonly evaluator: Address;
  readonly status: number;
  readonly expiredAt: bigint | number;
  readonly budget: bigint;
  readonly description: string;
};

function readTold(
  client: EscrowClient,
  { address, generation }: KnownEscrow,
  jobId: bigint,
  block: bigint | undefined,
): Promise<Told> {
  const call = { address, functionName: "getJob", args: [jobId] } as const;
  const at = block === undefined ? {} : { blockNumber: block };
  switch (generation) {
    case "G1":
      return client.readContract({ abi: jobsG1Abi, ...call, ...at });
    case "G3":
      return client.readContract({ abi: jobsG3Abi, ...call, ...at });
    case "V3":
      return client.readContract({ abi: jobsV3Abi, ...call, ...at });
  }
}

function jobOf({ chainId, escrow, jobId }: JobName, told: Told): EscrowJob {
  const status = JOB_STATUSES[told.status];
  if (status === undefined) {
    throw new EscrowFailure(
      "malformed",
      `job ${jobId} of ${escrow}: expected a status from 0 to 5, got ${told.status}`,
    );
  }
  return {
    chainId,
    escrow: lower(escrow),
    jobId,
    client: lower(told.client),
    provider: lower(told.provider),
    evaluator: lower(told.evaluator),
    status,
    expiredAt: BigInt(told.expiredAt),
    budget: told.budget,
    description: told.description,
  };
}

function lower(address: Address): Address {
  // An address in lower case is an address.
  return address.toLowerCase() as Address;
}
