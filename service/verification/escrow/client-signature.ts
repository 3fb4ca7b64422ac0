import { type Address, type Hex, hashTypedData } from "viem";
import type { Deployment } from "../../chain/deployments.ts";
import { type EscrowClient, findEscrow, isSignedBy, readJob } from "./escrow-node.ts";
import type { JobName } from "./types.ts";

/** A client signature for a job's specification, to be verified; addresses in lower case. */
export type SignedSpec = { job: JobName; clientAddr: Address; specHash: Hex; signature: Hex };

/**
 * Returns why a signature is not the SpecBinding of a job's client for a specification, as of the node's newest block; null if it is. A
 * contract wallet is called by ERC-1271 only here; its later answers change nothing. The client's deadlines and retries limit the time.
 * Throws an EscrowFailure without a usable answer of the node.
 */
export async function refuseSignature(
  {
    client,
    deployment,
  }: { client: EscrowClient; deployment: Pick<Deployment, "chainId" | "escrows" | "verdictEvaluator"> },
  { job, clientAddr, specHash, signature }: SignedSpec,
): Promise<string | null> {
  const evaluator = deployment.verdictEvaluator;
  if (evaluator === null) return "no evaluator is deployed that it could name";
  const escrow = findEscrow(deployment, job);
  const onChain = escrow === undefined ? null : await readJob(client, escrow, { job });
  if (onChain === null) return `the escrow ${job.escrow} has no job ${job.jobId} that it could be for`;
  if (onChain.client !== clientAddr)
    return `the client of job ${job.jobId} is ${onChain.client}, not ${clientAddr}`;
  const digest = specBindingDigest(evaluator.address, job, specHash);
  if (await isSignedBy(client, { signer: clientAddr, digest, signature })) return null;
  return `it is not the SpecBinding of ${clientAddr} for job ${job.jobId} and the specification ${specHash}, with the evaluator ${evaluator.address}`;
}

const BINDING_TYPES = {
  SpecBinding: [
    { name: "escrow", type: "address" },
    { name: "jobId", type: "uint256" },
    { name: "specHash", type: "bytes32" },
  ],
} as const;

/** EIP-712 typed data of a client's SpecBinding for one evaluator, for viem's signTypedData. */
export function specBindingTypedData(evaluator: Address, { chainId, escrow, jobId }: JobName, specHash: Hex) {
  return {
    domain: { name: "Agent Health Spec Binding", version: "1", chainId, verifyingContract: evaluator },
    types: BINDING_TYPES,
    primaryType: "SpecBinding",
    message: { escrow, jobId, specHash },
  } as const;
}

export function specBindingDigest(evaluator: Address, job: JobName, specHash: Hex): Hex {
  return hashTypedData(specBindingTypedData(evaluator, job, specHash));
}
