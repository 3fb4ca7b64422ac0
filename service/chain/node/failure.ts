/** What kept a range from being enriched; all but `too_many_results` and `timeout`, which a smaller range or leaving something out cures, wait for the node. */
export type EnrichFailureKind =
  /** No answer at all, or one that speaks of the node's own trouble. */
  | "unreachable"
  /** The answer took longer than its deadline. */
  | "timeout"
  /** The node asks for fewer requests. */
  | "rate_limited"
  /** The answer would be, or was, larger than the node or we allow. */
  | "too_many_results"
  /** The node does not know the method. */
  | "method_missing"
  /** The call that the node was to try reverts. */
  | "reverted"
  /** The node refuses the request itself. */
  | "refused"
  /** The answer has not the form of one. */
  | "garbage"
  /** The node does not hold the range yet. */
  | "node_behind"
  /** The node's blocks are not the ones that the cursor or the index stands on. */
  | "other_chain"
  /** Answers that contradict the index or one another. */
  | "inconsistent";

/** A range could not be read; nothing of it is stored, and the cursor stands where it stood. */
export class EnrichFailure extends Error {
  override readonly name = "EnrichFailure";
  readonly kind: EnrichFailureKind;
  /** Milliseconds that the node asked to be left alone for; null where it did not say. */
  readonly retryAfterMs: number | null;

  constructor(
    kind: EnrichFailureKind,
    message: string,
    more: { readonly cause?: unknown; readonly retryAfterMs?: number | null } = {},
  ) {
    super(`${kind}: ${message}`, { cause: more.cause });
    this.kind = kind;
    this.retryAfterMs = more.retryAfterMs ?? null;
  }
}
