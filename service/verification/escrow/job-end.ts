import { type EscrowGeneration, type EscrowJob, GRACE_SECONDS } from "./types.ts";

/** What says until when a job is decided. */
export type JobTerm = Pick<EscrowJob, "expiredAt"> & { readonly generation: EscrowGeneration };

/** From when on nothing decides a submitted job any more, in Unix seconds; null where that is once its refund is claimed. */
export function jobEnd({ expiredAt, generation }: JobTerm): bigint | null {
  const grace = GRACE_SECONDS[generation];
  return grace === null ? null : expiredAt + grace;
}
