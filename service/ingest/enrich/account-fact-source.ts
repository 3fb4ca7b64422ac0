import type { Address } from "viem";
import type { HistoryFailure } from "../history/history-source.ts";

/** What a source knows of an account; null is what it does not. */
export type SourcedFacts = {
  readonly kind: "facts";
  /** Who created the contract. */
  readonly creator: Address | null;
  /** Who first sent it value. */
  readonly firstFunder: Address | null;
  /** By when it had code, or had sent a transaction. */
  readonly existed: { readonly block: number; readonly timestamp: number } | null;
};

/** What never changes about an account, from outside our index. */
export type AccountFactSource = {
  readonly name: string;
  readonly read: (
    account: { readonly address: Address; readonly hasCode: boolean },
    signal: AbortSignal,
  ) => Promise<SourcedFacts | HistoryFailure>;
};
