import type { Address } from "viem";
import type { RawHeader, RawLog, RawReceipt, RawTransaction } from "../../chain/node/rpc-answers.ts";
import type { HistoryFailure } from "./history.ts";

/** Which part of a stretch of blocks is wanted. All addresses are lower-case. */
export type BatchRequest = {
  /** First and last block, both included; the last is final. */
  readonly from: number;
  readonly to: number;
  readonly parts: BatchParts;
};

/** Either everything, or what concerns some wallets. */
export type BatchParts =
  | { readonly of: "blocks" }
  | {
      readonly of: "wallets";
      readonly wallets: readonly Address[];
      /** Tokens whose logs of used authorizations are believed. */
      readonly tokens: readonly Address[];
    };

/** A mined transaction with its receipt, as a node gives the two. */
export type BatchTransaction = {
  readonly transaction: RawTransaction & { readonly from: Address; readonly nonce: number };
  readonly receipt: Omit<RawReceipt, "logs"> & {
    /** All of them. */
    readonly logs: readonly RawLog[];
    /** Of a creation that succeeded; else null. */
    readonly contractAddress: Address | null;
  };
};

/**
 * A block with transactions, by rising index: in a request for blocks all of them, in one for wallets those that a wallet sent, those
 * that sent native coin to one, and those with a log that names one at the place of a party: in ERC-20, ERC-721 and ERC-1155 transfers
 * and approvals, ERC-4337 operations, and used authorizations of the tokens.
 */
export type BatchBlock = {
  readonly header: RawHeader;
  readonly transactions: readonly BatchTransaction[];
};

/** Blocks of one answer by rising number, those without a wanted transaction left out. */
export type BatchAnswer = {
  readonly kind: "blocks";
  readonly blocks: readonly BatchBlock[];
  /** Every block up to this one has been answered. */
  readonly to: number;
};

/** Past blocks for many wallets at once, from outside our index. */
export type BatchSource = {
  /** As the source of stored rows, and in coverage. */
  readonly name: string;
  /** The newest final block that the source knows. */
  readonly finalBlock: (
    signal: AbortSignal,
  ) => Promise<Pick<RawHeader, "number" | "hash"> | HistoryFailure>;
  /**
   * Answers from the first block on, in as many answers as the source takes. It ends after the last block, or with a failure: then
   * what was answered holds, and the rest can be asked for again.
   */
  readonly read: (
    request: BatchRequest,
    signal: AbortSignal,
  ) => AsyncIterable<BatchAnswer | HistoryFailure>;
};
