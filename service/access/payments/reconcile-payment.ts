import type { Hex } from "viem";
import type { PaymentState } from "../../db/tables/payment.ts";

/** A payment past its deadline, as far as the decision goes. */
export type UnsettledPayment = {
  readonly state: PaymentState;
  readonly settleAskedAt: Date | null;
  /** When the newest request took it; what was asked before that was another one's. */
  readonly createdAt: Date;
  /** Unix seconds. */
  readonly validBefore: number;
};

/** What the chain and our sender say about it. */
export type PaymentSighting = {
  /** The authorization's nonce is used or withdrawn, at the newest or the pending block, and at the newest final one. */
  readonly used: boolean;
  readonly usedInFinal: boolean;
  /** Unix seconds of the newest final block. */
  readonly finalTime: number;
  /** The transaction that paid us by it. */
  readonly transfer: Hex | null;
  /** Our own order: none was queued, it may still be mined, or never will. */
  readonly order: "none" | "open" | "dead";
  /** Whether orders go through our own sender, so that none in its queue means none anywhere. */
  readonly ownSender: boolean;
  readonly now: Date;
};

/** A request that asked for settlement may queue its order for 20 s, and the database may take a while more. */
const QUEUEING_MS = 60_000;

export type Reconciliation =
  | { readonly kind: "settle"; readonly transaction: Hex }
  | { readonly kind: "release"; readonly error: string }
  /** The authorization is of no use to anybody any more. */
  | { readonly kind: "drop" }
  | { readonly kind: "wait" };

/**
 * What becomes of a payment that nobody is working on. Money that moved to us is never forgotten, whoever moved it; an
 * authorization is free again only when no order of ours can still carry it out.
 */
export function reconcilePayment(row: UnsettledPayment, seen: PaymentSighting): Reconciliation {
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

/** What the chain and our sender say of a payment whose money had moved. */
export type MovedSighting = {
  /** The block that holds the transaction on record, and no other; null when none does. */
  readonly minedIn: bigint | null;
  readonly finalBlock: bigint;
  /** Whatever transaction pays us by it now. */
  readonly transfer: Hex | null;
  /** The authorization's nonce is used or withdrawn at the newest final block. */
  readonly usedInFinal: boolean;
  /** It can no longer be carried out at the newest final block. */
  readonly expired: boolean;
  /** An order of ours may still be mined. */
  readonly orderOpen: boolean;
};

export type Confirmation =
  | { readonly kind: "confirm" }
  /** The transaction that has the money now; null where none has, for the time being. */
  | { readonly kind: "wait"; readonly transaction: Hex | null }
  | { readonly kind: "lose"; readonly error: string };

/** Whether money that had moved stays: lost only where no transaction has it and, by final blocks, none ever will. */
export function confirmPayment(seen: MovedSighting): Confirmation {
  const { minedIn, finalBlock, transfer } = seen;
  if (minedIn !== null) {
    return minedIn <= finalBlock ? { kind: "confirm" } : { kind: "wait", transaction: null };
  }
  if (transfer !== null || seen.orderOpen) return { kind: "wait", transaction: transfer };
  if (seen.usedInFinal) {
    return { kind: "lose", error: "reorganised away, and the authorization was used or withdrawn elsewhere" };
  }
  return seen.expired
    ? { kind: "lose", error: "reorganised away, and the authorization has expired" }
    : { kind: "wait", transaction: null };
}
