import { type Address, type Hex, hashTypedData } from "viem";
import type { JobName } from "./types.ts";

const types = {
  SpecBinding: [
    { name: "escrow", type: "address" },
    { name: "jobId", type: "uint256" },
    { name: "specHash", type: "bytes32" },
  ],
} as const;

/** EIP-712 typed data by which a job's client names its specification, for one evaluator; as viem's signTypedData takes it. */
export function specBindingTypedData(evaluator: Address, { chainId, escrow, jobId }: JobName, specHash: Hex) {
  return {
    domain: { name: "Agent Health Spec Binding", version: "1", chainId, verifyingContract: evaluator },
    types,
    primaryType: "SpecBinding",
    message: { escrow, jobId, specHash },
  } as const;
}

/** What the client signs. */
export function specBindingDigest(evaluator: Address, job: JobName, specHash: Hex): Hex {
  return hashTypedData(specBindingTypedData(evaluator, job, specHash));
}
