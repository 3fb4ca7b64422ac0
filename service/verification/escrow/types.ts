import type { Address } from "viem";
import { type jobSpec, verdict } from "../../db/tables/verdict.ts";

/**
 * Seconds after its expiry in which a submitted job can be decided, by the ABI generation of its ERC-8183 escrow; null: until its refund is
 * claimed. The generations are the code of the ERC text, base-contracts' ERC8183, and Virtuals' AgenticCommerceV3.
 */
const GRACE_SECONDS = { G1: null, G3: 3_600n, V3: null } as const;

export type EscrowGeneration = keyof typeof GRACE_SECONDS;

/** States of ERC-8183, by their numbers on chain. */
export const JOB_STATUSES = ["Open", "Funded", "Submitted", "Completed", "Rejected", "Expired"] as const;

/** Key of a job; the escrow in lower case. */
export type JobName = { readonly chainId: number; readonly escrow: Address; readonly jobId: bigint };

/** The columns of a verdict's bound job. */
export const JOB_COLUMNS = {
  jobChainId: verdict.jobChainId,
  jobEscrow: verdict.jobEscrow,
  jobId: verdict.jobId,
};

/** The job that a row names; null if it names none of an escrow. */
export function jobOf({
  jobChainId: chainId,
  jobEscrow: escrow,
  jobId,
}: Pick<typeof verdict.$inferSelect, keyof typeof JOB_COLUMNS>): JobName | null {
  return chainId === null || escrow === null || jobId === null ? null : { chainId, escrow, jobId };
}

/** A job as read from its escrow of any generation; addresses in lower case. */
export type EscrowJob = JobName & {
  readonly client: Address;
  /** The zero address if none is named. */
  readonly provider: Address;
  readonly evaluator: Address;
  readonly status: (typeof JOB_STATUSES)[number];
  readonly expiredAt: bigint;
  /** In the token's smallest unit. */
  readonly budget: bigint;
  readonly description: string;
};

/** A registered specification as binding reads it; its signature was verified. */
export type BindableSpec = Pick<
  typeof jobSpec.$inferSelect,
  "specHash" | "clientAddr" | "providerAddr" | "clientSignature" | "registeredBlock"
> & { readonly specId: string; readonly job: JobName };

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
