import type { Address, Hex } from "viem";

/** ABI generations of ERC-8183 escrows: the code of the ERC text, base-contracts' ERC8183, and Virtuals' AgenticCommerceV3. */
const ESCROW_GENERATIONS = ["G1", "G3", "V3"] as const;

export type EscrowGeneration = (typeof ESCROW_GENERATIONS)[number];

/** Seconds after its expiry in which a submitted job can be decided; null: until its refund is claimed. */
const GRACE_SECONDS = { G1: null, G3: 3_600n, V3: null } as const satisfies Record<
  EscrowGeneration,
  bigint | null
>;

/** States of ERC-8183, by their numbers on chain. */
export const JOB_STATUSES = ["Open", "Funded", "Submitted", "Completed", "Rejected", "Expired"] as const;

type JobStatus = (typeof JOB_STATUSES)[number];

/** Key of a job; the escrow in lower case. */
export type JobName = { readonly chainId: number; readonly escrow: Address; readonly jobId: bigint };

/** A job as read from its escrow of any generation; addresses in lower case. */
export type EscrowJob = JobName & {
  readonly client: Address;
  /** The zero address if none is named. */
  readonly provider: Address;
  readonly evaluator: Address;
  readonly status: JobStatus;
  /** Unix seconds. */
  readonly expiredAt: bigint;
  /** In the token's smallest unit. */
  readonly budget: bigint;
  readonly description: string;
};

/** Members of a registered specification that binding reads; addresses in lower case. */
export type SpecClaim = {
  readonly specId: string;
  readonly specHash: Hex;
  readonly clientAddr: Address;
  readonly providerAddr: Address | null;
  readonly job: JobName;
  /** Verified when it was registered. */
  readonly clientSignature: Hex | null;
  /** Newest block of node and index at registration. */
  readonly registeredBlock: bigint | null;
};

/** Result of binding a specification to its job. */
export type Binding =
  | { readonly kind: "bound"; readonly job: EscrowJob; readonly by: "description" | "signature" }
  | { readonly kind: "unbound"; readonly reason: string }
  /** The escrow's code differs from the reviewed one, so the answer is unknown until the next review. */
  | { readonly kind: "suspended"; readonly reason: string };

/** Numbers of decisions in the signed struct; 0 is no decision. */
export const DECISION_CODES = { ALLOW: 1, REJECT: 2, HOLD: 3 } as const;

/** Facts that limit the time to decide a job. */
export type JobTerm = Pick<EscrowJob, "expiredAt"> & { readonly generation: EscrowGeneration };

/** Time after which a submitted job cannot be decided, in Unix seconds; null if its refund claim is that time. */
export function jobEnd({ expiredAt, generation }: JobTerm): bigint | null {
  const grace = GRACE_SECONDS[generation];
  return grace === null ? null : expiredAt + grace;
}
