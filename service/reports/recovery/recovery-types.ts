import type { Address } from "viem";
/** What a call is meant to bring about, by its calldata. */
export type CallIntent = {
  readonly kind: "transfer" | "approval" | "swap" | "other";
  /** Two calls that share one of these bring about the same: one must not be made again once the other succeeded. */
  readonly keys: readonly string[];
  /**
   * The called account and method. Where calldata does not tell what a call is for (kind other), another call of its method may
   * be meant for the same: none is made again once another succeeded, and none together with another.
   */
  readonly method: string;
  /** Whom it deals with: the called account, whose tokens, who is paid, who may spend; lower-case. */
  readonly parties: readonly Address[];
  /** Known for exact amounts alone. */
  readonly spends: readonly TokenSpend[];
  /** Unix seconds after which the called contract refuses; null where the calldata names none. */
  readonly deadline: bigint | null;
};

/** Tokens that a call takes out of the wallet; spender is null where the wallet itself sends them. */
export type TokenSpend = {
  readonly token: Address;
  readonly spender: Address | null;
  readonly amount: bigint;
};
