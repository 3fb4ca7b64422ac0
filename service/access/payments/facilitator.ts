import type { Hex } from "viem";
import type { PresentedPayment } from "../access.ts";

/** The facilitator's answer about an unsettled payment. */
export type VerifyOutcome =
  | { readonly kind: "valid" }
  /** A reason of the protocol, fit to be shown. */
  | { readonly kind: "invalid"; readonly reason: string }
  /** Its settlement costs us too much now; `detail` is fit to be shown. */
  | { readonly kind: "dear"; readonly detail: string; readonly retryAfterSeconds: number }
  | { readonly kind: "unavailable"; readonly cause: unknown };

/** Result of the order to move the money. */
export type SettleOutcome =
  | { readonly kind: "settled"; readonly transaction: Hex }
  /** The money has not moved by this order, and will not. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The order never arrived. */
  | { readonly kind: "unavailable"; readonly cause: unknown }
  /** It may have moved, or may yet. */
  | { readonly kind: "unknown"; readonly cause: unknown };

/** Verifies authorizations and settles them. Neither call throws. */
export type Facilitator = {
  /** The gas of the settlement may be compared with `worth`, in the token's smallest unit: the amount unless it is given. */
  verify(payment: PresentedPayment, worth?: bigint): Promise<VerifyOutcome>;
  settle(payment: PresentedPayment): Promise<SettleOutcome>;
};

/** Longest settlement before the caller gets "pending". */
export const SETTLE_DEADLINE_MS = 20_000;

const REASON = /^[a-z0-9_]{1,80}$/;

/** Returns the reason if it is a word of the protocol. Other texts may hold secrets. */
export function publicReason(reason: string | undefined, otherwise: string): string {
  return reason !== undefined && REASON.test(reason) ? reason : otherwise;
}
