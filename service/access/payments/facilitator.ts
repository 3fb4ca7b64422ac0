import type { Hex } from "viem";
import type { PresentedPayment } from "../access.ts";

/** What a facilitator says of a payment that nobody has settled yet. */
export type VerifyOutcome =
  | { readonly kind: "valid" }
  /** A reason of the protocol, fit to be shown. */
  | { readonly kind: "invalid"; readonly reason: string }
  /** Its settlement costs us too much now; `detail` is fit to be shown. */
  | { readonly kind: "dear"; readonly detail: string; readonly retryAfterSeconds: number }
  | { readonly kind: "unavailable"; readonly cause: unknown };

/** What became of the order to move the money. */
export type SettleOutcome =
  | { readonly kind: "settled"; readonly transaction: Hex }
  /** The money has not moved by this order, and will not. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The order never arrived. */
  | { readonly kind: "unavailable"; readonly cause: unknown }
  /** It may have moved, or may yet. */
  | { readonly kind: "unknown"; readonly cause: unknown };

/** Whoever checks authorizations and has them carried out; neither call throws. */
export type Facilitator = {
  verify(payment: PresentedPayment): Promise<VerifyOutcome>;
  settle(payment: PresentedPayment): Promise<SettleOutcome>;
};

/** How long a settlement may take before the caller is told that it is pending: api.md section 2. */
export const SETTLE_DEADLINE_MS = 20_000;

const REASON = /^[a-z0-9_]{1,80}$/;

/** A facilitator's reason where it is one of the protocol's words: everything else may carry what is nobody's business. */
export function publicReason(reason: string | undefined, otherwise: string): string {
  return reason !== undefined && REASON.test(reason) ? reason : otherwise;
}
