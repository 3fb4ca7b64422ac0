import type { Address, Hex } from "viem";

/** ABI generations of ERC-8183 escrows: the ERC text's own code, base-contracts' ERC8183, and Virtuals' AgenticCommerceV3. */
const ESCROW_GENERATIONS = ["G1", "G3", "V3"] as const;

export type EscrowGeneration = (typeof ESCROW_GENERATIONS)[number];

/** Seconds past its expiry in which a submitted job is still decided; null where it is until somebody claims its refund. */
const GRACE_SECONDS = { G1: null, G3: 3_600n, V3: null } as const satisfies Record<
  EscrowGeneration,
  bigint | null
>;

/** States of ERC-8183, by their numbers on chain. */
export const JOB_STATUSES = ["Open", "Funded", "Submitted", "Completed", "Rejected", "Expired"] as const;

type JobStatus = (typeof JOB_STATUSES)[number];

/** Which job is meant; the escrow in lower case. */
export type JobName = { readonly chainId: number; readonly escrow: Address; readonly jobId: bigint };

/** A job as its escrow tells it, whatever the generation; addresses in lower case. */
export type EscrowJob = JobName & {
  readonly client: Address;
  /** The zero address while none is named. */
  readonly provider: Address;
  readonly evaluator: Address;
  readonly status: JobStatus;
  /** Unix seconds. */
  readonly expiredAt: bigint;
  /** In the token's smallest unit. */
  readonly budget: bigint;
  readonly description: string;
};

/** What binding reads of a registered specification; addresses in lower case. */
export type SpecClaim = {
  readonly specId: string;
  readonly specHash: Hex;
  readonly clientAddr: Address;
  readonly providerAddr: Address | null;
  readonly job: JobName;
  /** Verified when it was registered. */
  readonly clientSignature: Hex | null;
  /** The newest block of node and index when it was registered. */
  readonly registeredBlock: bigint | null;
};

/** Whether a specification is its job's: by the job's description, or by the client's signature. */
export type Binding =
  | { readonly kind: "bound"; readonly job: EscrowJob; readonly by: "description" | "signature" }
  | { readonly kind: "unbound"; readonly reason: string }
  /** The escrow's code is not the one that was reviewed: until it is reviewed again, the answer is not known. */
  | { readonly kind: "suspended"; readonly reason: string };

/** Numbers of decisions in the signed struct; 0 is none. */
export const DECISION_CODES = { ALLOW: 1, REJECT: 2, HOLD: 3 } as const;

/** What says until when a job is decided. */
export type JobTerm = Pick<EscrowJob, "expiredAt"> & { readonly generation: EscrowGeneration };

/** From when on nothing decides a submitted job any more, in Unix seconds; null where that is once its refund is claimed. */
export function jobEnd({ expiredAt, generation }: JobTerm): bigint | null {
  const grace = GRACE_SECONDS[generation];
  return grace === null ? null : expiredAt + grace;
}
