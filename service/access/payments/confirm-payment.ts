import type { Hex } from "viem";

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
