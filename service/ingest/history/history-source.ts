import type { Address } from "viem";
import type { AsOf, OwnCall } from "../../model/features/types.ts";

/**
 * Why there is no history. `unavailable`, `timeout` and `rate_limited` may pass by themselves; `refused` needs the operator;
 * `malformed` and `inconsistent` mean that the source cannot be believed; `behind` that it does not know the block yet;
 * `busy` that too many wallets wait already; `crowded` that others' transactions hide the wallet's own.
 */
export type HistoryFailureReason =
  | "unavailable"
  | "timeout"
  | "rate_limited"
  | "refused"
  | "malformed"
  | "inconsistent"
  | "behind"
  | "busy"
  | "crowded";

export type HistoryFailure = {
  readonly kind: "failed";
  readonly reason: HistoryFailureReason;
  /** For the log; holds no key and no URL. */
  readonly detail: string;
  /** What the source asked for; null where it said nothing. */
  readonly retryAfterSeconds: number | null;
};

/** A call of the wallet's own, with the nonce by which a missing one is noticed. */
export type NumberedCall = { readonly nonce: number; readonly call: OwnCall };

/** A transaction that touches the wallet, in whatever part. */
export type SourceRow = {
  readonly hash: string;
  readonly blockNumber: number;
  /** Unix seconds of its block. */
  readonly timestamp: number;
  /** Null where another account sent it. */
  readonly own: NumberedCall | null;
};

/** Where reading a wallet's transactions, newest first, stands. */
export type PageRequest = {
  /** Lower-case. */
  readonly wallet: Address;
  /** Older blocks are of no use. */
  readonly fromBlock: number;
  /** Newer blocks must not be answered. */
  readonly toBlock: number;
  readonly pagesBefore: number;
  readonly rowsBefore: number;
  /** Block of the oldest row so far; null before the first. */
  readonly oldestBlock: number | null;
  /** Rows so far of that block. */
  readonly oldestHashes: readonly string[];
};

export type SourcePage = {
  readonly kind: "page";
  /** From newer to older blocks. */
  readonly rows: readonly SourceRow[];
  /** Whether nothing older is left. */
  readonly last: boolean;
};

/** Past transactions of any account, from outside our index. */
export type HistorySource = {
  /** As coverage names it. */
  readonly name: string;
  /** Whether the source knows the chain up to that block; null means yes. */
  readonly checkReach: (asOf: AsOf, signal: AbortSignal) => Promise<HistoryFailure | null>;
  readonly readPage: (request: PageRequest, signal: AbortSignal) => Promise<SourcePage | HistoryFailure>;
  /** How many transactions the wallet had sent by a block. */
  readonly countSent: (account: AccountAt, signal: AbortSignal) => Promise<SentCount | HistoryFailure>;
  /** Whether the account has code, its own or another's (EIP-7702): either uses up nonces without a transaction. */
  readonly checkCode: (account: AccountAt, signal: AbortSignal) => Promise<CodeCheck | HistoryFailure>;
};

type AccountAt = {
  /** Lower-case. */
  readonly wallet: Address;
  readonly asOf: AsOf;
};

/** Null where the source cannot tell it of a past block. */
export type SentCount = { readonly count: number | null };

export type CodeCheck = { readonly hasCode: boolean };

/** A failure without a wish of the source about when to come back. */
export function historyFailure(reason: HistoryFailureReason, detail: string): HistoryFailure {
  return { kind: "failed", reason, detail, retryAfterSeconds: null };
}
