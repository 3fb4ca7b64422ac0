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

/** A wallet as of a block, and what of its transactions is under way since. */
export type WalletState = {
  /** Wei; the smaller of that at the block and that which the pending transactions leave. */
  readonly balance: bigint;
  /**
   * delegated_eoa: an EIP-7702 delegation, so that beside its key other code acts for it. smart_account: any other code, so that no
   * key signs for it.
   */
  readonly account: "eoa" | "delegated_eoa" | "smart_account";
  readonly nonce: number;
  /** The first that no transaction has, pending ones included; from it new ones are numbered. */
  readonly pendingNonce: number;
  /** Those mined after the block or pending that the node shows. */
  readonly underWay: readonly Pick<SentCall, "hash" | "to" | "input" | "value">[];
};

/** Wei per gas. */
type GasMarket = { readonly baseFeePerGas: bigint; readonly priorityFeePerGas: bigint };

/** A transaction as it would be sent now. */
export type Attempt = {
  readonly from: Address;
  readonly to: Address | null;
  readonly data: Hex;
  readonly value: bigint;
};

/** What came of trying it at a block. */
export type Trial =
  | {
      readonly kind: "passes";
      /** Units by eth_estimateGas. */
      readonly gas: bigint;
      /** Wei that a rollup charges on top for posting it; 0 where none does. */
      readonly l1Fee: bigint;
    }
  | { readonly kind: "fails"; readonly reason: string }
  /** The called account has no code, so that the calldata would do nothing. */
  | { readonly kind: "no_code" };

/** A token of a wallet, and what a spender may take of it; spender is null for the balance. */
export type HoldingQuery = { readonly token: Address; readonly spender: Address | null };

/**
 * What recovering asks of a node; every call throws a NodeFailure where there is no answer that can be believed. Each is
 * of one block, by its number; whoever asks checks the block's hash before and after.
 */
export type RecoveryNode = {
  /** Null where the node has no block of that number. */
  block(number: number): Promise<NodeBlock | null>;
  wallet(wallet: Address, block: number): Promise<WalletState>;
  gasMarket(): Promise<GasMarket>;
  /** Smallest units; null for what the token does not answer. */
  holding(owner: Address, query: HoldingQuery, block: number): Promise<bigint | null>;
  /** Whether an operator may move every token of a collection; null for what the collection does not answer. */
  approvesAll(
    owner: Address,
    approval: { readonly token: Address; readonly spender: Address },
    block: number,
  ): Promise<boolean | null>;
  attempt(call: Attempt, block: NodeBlock): Promise<Trial>;
  /** Null for one that the node does not know, or does not keep any more. */
  transaction(hash: Hex): Promise<MinedTransaction | null>;
  /**
   * Makes the calls of one account one after the other; for each why it fails then, null where it passes. Null where the node
   * cannot do that, or answers it in another form.
   */
  rehearse(
    calls: readonly (Attempt & { readonly gas: bigint })[],
    block: NodeBlock,
  ): Promise<readonly (string | null)[] | null>;
  /** Makes the call again on the state before its own block; null where it passes there, or the node has that state no more. */
  replay(call: SentCall, from: Address): Promise<Revert | null>;
};
