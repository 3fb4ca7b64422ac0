/**
 * What an escrow's job cannot be judged by now. `node`: the node gives no usable answer. `index`: the index has not followed
 * the chain to where it must. `malformed`: the escrow answers what its generation does not.
 */
export type EscrowFailureReason = "node" | "index" | "malformed";

/** Nothing is known of a job for now; another try may fare better, unless its reason is `malformed`. */
export class EscrowFailure extends Error {
  override readonly name = "EscrowFailure";
  readonly reason: EscrowFailureReason;

  constructor(reason: EscrowFailureReason, message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}
