import type { Address, Hex } from "viem";
import type { Revert } from "../../chain/revert-reason.ts";
import type { SentCall } from "./failed-calls.ts";

/** A transaction as a node has it. */
export type MinedTransaction = Pick<SentCall, "hash" | "to" | "nonce" | "input" | "value"> & {
  /** Lower-case. */
  readonly from: string;
  /** Null while it is pending. */
  readonly block: number | null;
};

export type NodeBlock = {
  readonly number: number;
  readonly hash: Hex;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly gasLimit: bigint;
};

/** State of a wallet at a block, and its later transactions. */
export type WalletState = {
  /** Wei; the lower of the balance at the block and the pending balance. */
  readonly balance: bigint;
  /**
   * delegated_eoa: an EIP-7702 delegation, so that other code acts for it besides its key. smart_account: any other
   * code, so that no key signs for it.
   */
  readonly account: "eoa" | "delegated_eoa" | "smart_account";
  readonly nonce: number;
  /** The first unused nonce, pending transactions included. */
  readonly pendingNonce: number;
  /** Later mined and pending transactions that the node shows. */
  readonly underWay: readonly Pick<SentCall, "hash" | "to" | "input" | "value">[];
};

/** A transaction as it would be sent now. */
export type Attempt = {
  readonly from: Address;
  readonly to: Address | null;
  readonly data: Hex;
  readonly value: bigint;
};

/** Result of a simulation at a block. */
export type Trial =
  | {
      readonly kind: "passes";
      /** Units by eth_estimateGas. */
      readonly gas: bigint;
      /** Wei that a rollup charges for posting it; 0 without such a fee. */
      readonly l1Fee: bigint;
    }
  | { readonly kind: "fails"; readonly reason: string }
  /** The called account has no code: the calldata would have no effect. */
  | { readonly kind: "no_code" };

/** A wallet's balance of a token (spender null), or an allowance. */
export type HoldingQuery = { readonly token: Address; readonly spender: Address | null };

/**
 * The node as recovery uses it. Every call throws a NodeFailure without a valid answer. Calls name a block by number;
 * the caller compares the block's hash before and after.
 */
export type RecoveryNode = {
  /** Null if the node has no block of that number. */
  block(number: number): Promise<NodeBlock | null>;
  wallet(wallet: Address, block: number): Promise<WalletState>;
  gasMarket(): Promise<{ readonly baseFeePerGas: bigint; readonly priorityFeePerGas: bigint }>;
  /** Smallest units; null if the token gives no valid answer. */
  holding(owner: Address, query: HoldingQuery, block: number): Promise<bigint | null>;
  /** Whether an operator may move all tokens of a collection; null if the collection gives no valid answer. */
  approvesAll(
    owner: Address,
    approval: { readonly token: Address; readonly spender: Address },
    block: number,
  ): Promise<boolean | null>;
  attempt(call: Attempt, block: NodeBlock): Promise<Trial>;
  /** Null if the node does not know the transaction or has pruned it. */
  transaction(hash: Hex): Promise<MinedTransaction | null>;
  /**
   * Simulates calls of one account in sequence: per call the failure reason, or null if it passes. Null if the node
   * does not support that or returns another format.
   */
  rehearse(
    calls: readonly (Attempt & { readonly gas: bigint })[],
    block: NodeBlock,
  ): Promise<readonly (string | null)[] | null>;
  /** Repeats the call on the state before its block; null if it passes or the node has pruned that state. */
  replay(call: SentCall, from: Address): Promise<Revert | null>;
};
