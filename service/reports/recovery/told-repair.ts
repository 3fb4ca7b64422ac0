import type { Address, Hex } from "viem";
import type { SentCall } from "./failed-calls.ts";
import { APPROVAL_SELECTORS } from "./read-approval.ts";
import { PAYMENT_SELECTORS } from "./read-payment.ts";
import { SWAP_SELECTORS } from "./read-swap.ts";
import type { CallIntent } from "./recovery-types.ts";
import type { ToldSuccess } from "./told-calls.ts";

/** What a told success says of a failure before it. */
type ToldRepair = {
  readonly code: "repaired" | "maybe_repaired";
  readonly detail: string;
  readonly by: Hex;
};

type Told = {
  readonly wallet: Address;
  readonly outcomes: { readonly told: { readonly successes: readonly ToldSuccess[] } };
};

/**
 * Finds the success that a history source told of and that brought about the same later; else one that may have, since its
 * calldata is not known; null where there is neither. Whom a payment paid is known.
 */
export function toldFinder({ wallet, outcomes }: Told) {
  return (call: SentCall, intent: Pick<CallIntent, "kind" | "keys">): ToldRepair | null => {
    const later = outcomes.told.successes.filter((success) => isLater(success, call));
    const same = later.find((success) => intent.keys.includes(paymentKey(success) ?? ""));
    if (same !== undefined) {
      const detail = `Transaction ${same.hash} brought about the same later.`;
      return { code: "repaired", detail, by: same.hash };
    }
    const hidden = later.filter((success) => paymentKey(success) === null);
    const similar = hidden.find(
      (success) => runsOwnCode(success, wallet) || isSimilar(success, call, intent.kind),
    );
    if (similar === undefined) return null;
    const detail = `Transaction ${similar.hash} came later and may have done the same: its calldata is not known.`;
    return { code: "maybe_repaired", detail, by: similar.hash };
  };
}

/** The key of a payment, as `readPayment` makes it; null for any other call. */
function paymentKey({ to, selector, recipient }: ToldSuccess): string | null {
  if (to === null) return null;
  if (selector === null) return `transfer:native:${to.toLowerCase()}`;
  if (recipient === null || !PAYMENT_SELECTORS.includes(selector)) return null;
  return `transfer:${to.toLowerCase()}:${recipient.toLowerCase()}`;
}

function runsOwnCode({ to }: ToldSuccess, wallet: Address): boolean {
  return to?.toLowerCase() === wallet;
}

/** The same method of the same account; of swaps any other, of approvals any other of the same token. */
function isSimilar({ to, selector }: ToldSuccess, call: SentCall, kind: CallIntent["kind"]): boolean {
  if (kind === "swap" && isOneOf(SWAP_SELECTORS, selector)) return true;
  if (to?.toLowerCase() !== call.to?.toLowerCase()) return false;
  if (kind === "approval" && isOneOf(APPROVAL_SELECTORS, selector)) return true;
  return selector === call.selector;
}

function isOneOf(selectors: readonly Hex[], selector: Hex | null): boolean {
  return selector !== null && selectors.includes(selector);
}

type Place = Pick<SentCall, "block" | "transactionIndex">;

function isLater(one: Place, other: Place): boolean {
  return one.block === other.block ? one.transactionIndex > other.transactionIndex : one.block > other.block;
}
