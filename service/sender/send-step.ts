import type { Hex } from "viem";
import type { SenderPolicy } from "./send-policy.ts";
import type { SenderTransaction } from "./sender-transactions.ts";

/** How a transaction of ours ended up in a block. */
export type MinedReceipt = {
  readonly hash: Hex;
  readonly block: number;
  readonly ok: boolean;
  readonly gasUsed: bigint;
  /** Everything paid for it, in wei, an L1 fee included. */
  readonly costWei: bigint;
};

/** The part of a stored transaction that the next step depends on. */
export type OpenTransaction = Pick<
  SenderTransaction,
  "hashes" | "minedHash" | "minedBlock" | "broadcastAt" | "broadcastBlock" | "notBefore"
> & { state: "prepared" | "broadcast" | "mined" | "reverted"; nonce: number };

/** The chain's current facts about the transaction. */
export type ChainSnapshot = {
  readonly headBlock: number;
  /** Transactions of the sender in the chain up to the head. */
  readonly latestNonce: number;
  /** The same up to the newest block that cannot be reorged. */
  readonly finalNonce: number;
  /** Of whichever of its versions was mined. */
  readonly receipt: MinedReceipt | null;
  readonly now: Date;
};

export type SendStep =
  | { readonly kind: "wait" }
  | { readonly kind: "sign" }
  | { readonly kind: "broadcast" }
  | { readonly kind: "bump" }
  | { kind: "record"; receipt: MinedReceipt; final: boolean }
  | { readonly kind: "unmine" }
  | { readonly kind: "requeue" };

/**
 * Decides the next step of a transaction that holds a nonce. No other code decides it, so that a restart after a crash and an
 * ordinary poll do the same.
 */
export function nextStep(
  transaction: OpenTransaction,
  snapshot: ChainSnapshot,
  policy: Pick<SenderPolicy, "finalityBlocks" | "stuckAfterMs">,
): SendStep {
  if (snapshot.receipt !== null)
    return stepOfMined(transaction, snapshot.receipt, snapshot.headBlock - policy.finalityBlocks);
  if (transaction.state === "mined" || transaction.state === "reverted") return { kind: "unmine" };
  if (snapshot.latestNonce > transaction.nonce) return stepOfTakenNonce(transaction, snapshot);
  if (transaction.hashes.length === 0) return { kind: "sign" };
  if (transaction.state === "prepared")
    return isPostponed(transaction, snapshot) ? { kind: "wait" } : { kind: "broadcast" };
  return stepOfPending(transaction, snapshot, policy);
}

function stepOfMined(transaction: OpenTransaction, receipt: MinedReceipt, finalBlock: number): SendStep {
  const final = receipt.block <= finalBlock;
  const known = transaction.minedHash === receipt.hash && transaction.minedBlock === receipt.block;
  return known && !final ? { kind: "wait" } : { kind: "record", receipt, final };
}

/** Another transaction has the nonce. A signed version of ours could come back with a reorg, so that must be final. */
function stepOfTakenNonce(transaction: OpenTransaction, snapshot: ChainSnapshot): SendStep {
  const canNeverBeMined = transaction.hashes.length === 0 || snapshot.finalNonce > transaction.nonce;
  return { kind: canNeverBeMined ? "requeue" : "wait" };
}

function stepOfPending(
  transaction: OpenTransaction,
  snapshot: ChainSnapshot,
  policy: Parameters<typeof nextStep>[2],
): SendStep {
  const { broadcastAt, broadcastBlock } = transaction;
  if (broadcastAt === null || broadcastBlock === null) return { kind: "broadcast" };
  if (snapshot.now.getTime() - broadcastAt.getTime() < policy.stuckAfterMs) return { kind: "wait" };
  // Higher nonces wait for the lowest, and a chain without new blocks takes nothing at any price.
  const isPriceTheCause = transaction.nonce === snapshot.latestNonce && snapshot.headBlock > broadcastBlock;
  return { kind: isPriceTheCause ? "bump" : "broadcast" };
}

function isPostponed(transaction: OpenTransaction, snapshot: ChainSnapshot): boolean {
  return transaction.notBefore !== null && transaction.notBefore > snapshot.now;
}
