import type { Hex } from "viem";
import type { StoredPayment } from "./payments.ts";

/** Snapshot of the chain and our sender. */
export type PaymentObservation = {
  /** Whether the authorization's nonce is used or withdrawn: in the newest or pending block, and in the newest final one. */
  readonly used: boolean;
  readonly usedInFinal: boolean;
  /** Unix seconds of the newest final block. */
  readonly finalTime: number;
  /** The transaction that paid us by it. */
  readonly transfer: Hex | null;
  /** Our own order: none queued, still possible, or dead. */
  readonly order: "none" | "open" | "dead";
  /** True if all orders go through our own sender, so that an empty queue means no order at all. */
  readonly ownSender: boolean;
  readonly now: Date;
};

/** A request may queue its order for 20 s after asking for settlement; the database may add some more. */
const QUEUEING_MS = 60_000;

export type Reconciliation =
  | { readonly kind: "settle"; readonly transaction: Hex }
  | { readonly kind: "release"; readonly error: string }
  /** The authorization can no longer be used. */
  | { readonly kind: "drop" }
  | { readonly kind: "wait" };

/**
 * Decides about a payment without a running request. Money that moved to us always counts, also if a third party moved
 * it. An authorization is released only if no order of ours can still carry it out.
 */
export function reconcilePayment(
  // An earlier `settleAskedAt` than the newest reservation belongs to another request.
  row: Pick<StoredPayment, "state" | "settleAskedAt" | "createdAt" | "validBefore">,
  seen: PaymentObservation,
): Reconciliation {
  if (seen.transfer !== null) return { kind: "settle", transaction: seen.transfer };
  const expired = seen.finalTime >= row.validBefore;
  if (row.state === "released") {
    return (expired || seen.usedInFinal) && seen.order !== "open" ? { kind: "drop" } : { kind: "wait" };
  }
  if (row.settleAskedAt === null || row.settleAskedAt < row.createdAt) {
    return { kind: "release", error: "the request ended before its settlement was asked for" };
  }
  if (seen.usedInFinal)
    return { kind: "release", error: "the authorization was used or withdrawn elsewhere" };
  if (seen.used || seen.order === "open") return { kind: "wait" };
  if (expired) return { kind: "release", error: "the authorization expired unused" };
  const mayCome = seen.order === "none" && seen.now.getTime() - row.settleAskedAt.getTime() < QUEUEING_MS;
  return seen.ownSender && !mayCome
    ? { kind: "release", error: "the settlement was never sent" }
    : { kind: "wait" };
}

/**
 * Decides whether settled money is final. It is lost only if no transaction has it and, by final blocks, none ever will, as two looks some
 * minutes apart show: a node that lags or lacks logs does not find what is there.
 */
export function confirmPayment(seen: {
  /** The block of the recorded transaction; null if it is in no block. */
  readonly minedIn: bigint | null;
  readonly finalBlock: bigint;
  /** The transaction that pays us by the authorization now. */
  readonly transfer: Hex | null;
  /** The authorization's nonce is used or withdrawn at the newest final block. */
  readonly usedInFinal: boolean;
  /** It can no longer be carried out at the newest final block. */
  readonly expired: boolean;
  /** An order of ours may still be mined. */
  readonly orderOpen: boolean;
  /** The last look found it lost. */
  readonly missedBefore: boolean;
}):
  | { readonly kind: "confirm" }
  /** The transaction that has the money now; null if none has yet. */
  | { readonly kind: "wait"; readonly transaction: Hex | null }
  /** It is lost unless the next look finds it. */
  | { readonly kind: "miss"; readonly error: string }
  | { readonly kind: "lose"; readonly error: string } {
  const { minedIn, finalBlock, transfer } = seen;
  if (minedIn !== null) {
    return minedIn <= finalBlock ? { kind: "confirm" } : { kind: "wait", transaction: null };
  }
  if (transfer !== null || seen.orderOpen) return { kind: "wait", transaction: transfer };
  const kind = seen.missedBefore ? "lose" : "miss";
  if (seen.usedInFinal) {
    return { kind, error: "reorganised away, and the authorization was used or withdrawn elsewhere" };
  }
  return seen.expired
    ? { kind, error: "reorganised away, and the authorization has expired" }
    : { kind: "wait", transaction: null };
}
