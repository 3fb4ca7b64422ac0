import type { Address, Hex } from "viem";
import type { RawHeader, RawLog, RawReceipt, RawTransaction } from "../../chain/node/rpc-answers.ts";
import type { NativePayment } from "../enrich/enrich-reads.ts";
import type { HistoryFailure } from "./history.ts";

/** First and last block, both included. The caller's own node holds the last one for final. */
export type BlockRange = { readonly from: number; readonly to: number };

/** Asks for everything that concerns some wallets. All addresses are lower-case. */
export type WalletsRequest = BlockRange & {
  /** At least one, at most `maxWallets` of the source. */
  readonly wallets: readonly Address[];
  /** Contracts whose AuthorizationUsed is believed. */
  readonly tokens: readonly Address[];
  /** ERC-4337 entry points whose operations are believed. */
  readonly entryPoints: readonly Address[];
};

export type BatchHeader = RawHeader & { readonly parentHash: Hex };

/** A mined transaction with its receipt, each as the answer of a node is read. */
export type BatchTransaction = {
  readonly transaction: RawTransaction & {
    readonly from: Address;
    readonly nonce: number;
    /** EIP-2718; 126 is a deposit of the OP stack. */
    readonly type: number;
  };
  /** Its L1 fee is null only where the chain has none, and for deposits. */
  readonly receipt: RawReceipt & {
    /** All of them, in order. */
    readonly logs: readonly RawLog[];
    /** Of a creation that succeeded; else null. */
    readonly contractAddress: Address | null;
  };
};

/** A block, its transactions by rising index. */
export type BatchBlock = {
  readonly header: BatchHeader;
  readonly transactions: readonly BatchTransaction[];
};

/**
 * The part of a block that concerns the wallets. Its transactions are those that a wallet sent, and those of others in which a wallet's
 * account executed (a believed ERC-4337 operation, a Safe's log) or a believed token used the wallet's authorization.
 */
export type WalletsBlock = BatchBlock & {
  /** Native coin for a wallet in successful transactions that none of the wallets sent, by rising index. */
  readonly payments: readonly NativePayment[];
  /**
   * By rising number: transfers and approvals (ERC-20, 721 and 1155) that name a wallet, believed operations and authorizations of
   * one, and executions that a Safe among them logs. Those of the transactions above are here again.
   */
  readonly logs: readonly RawLog[];
};

/** Blocks by rising number. */
export type BatchAnswer<Block> = {
  readonly kind: "blocks";
  readonly blocks: readonly Block[];
  /** Every block up to this one has been answered. */
  readonly to: number;
};

/** Answers from the first block on. It ends after the last block, or with a failure: what came before holds, the rest can be asked again. */
export type BatchAnswers<Block> = AsyncIterable<BatchAnswer<Block> | HistoryFailure>;

/** Past blocks for many wallets at once, from outside our index. */
export type BatchSource = {
  /** As the source of stored rows, and in coverage. */
  readonly name: string;
  /** Most wallets of one request: more are asked for one batch after the other. */
  readonly maxWallets: number;
  /** Number of the newest block that can be asked for. */
  readonly newestBlock: (signal: AbortSignal) => Promise<{ readonly number: number } | HistoryFailure>;
  /** Blocks in which nothing concerns the wallets are left out. */
  readonly readWallets: (request: WalletsRequest, signal: AbortSignal) => BatchAnswers<WalletsBlock>;
  /** Every block of the range, whole. */
  readonly readBlocks: (range: BlockRange, signal: AbortSignal) => BatchAnswers<BatchBlock>;
};
