import type { Address, Hex } from "viem";
import { READ_CHARACTERS, type SentCall } from "./failed-calls.ts";
import { APPROVAL_SELECTORS, readApproval } from "./read-approval.ts";
import { PAYMENT_SELECTORS, readPayment } from "./read-payment.ts";
import { readSwap, SWAP_SELECTORS, type SwapReading } from "./read-swap.ts";
import type { CallIntent } from "./recovery-types.ts";

type Called = Pick<SentCall, "to" | "input" | "value">;

/**
 * The intent of a wallet's call: a transfer is known by token and recipient, a swap by its two tokens and its recipient,
 * whatever router and amounts, a change of an allowance by token and spender, anything else by its calldata at the same
 * account, as far as that of successes is read.
 */
export function readIntent(call: Called, wallet: Address): CallIntent {
  return { ...readMeaning(call, wallet), method: methodOf(call) };
}

/** Whether two calls bring about the same, or may: calls of one method where the calldata of one does not tell what it is for. */
export function mayBeSame(one: CallIntent, other: CallIntent): boolean {
  if (one.keys.some((key) => other.keys.includes(key))) return true;
  return one.method === other.method && (one.kind === "other" || other.kind === "other");
}

type Meaning = Omit<CallIntent, "method">;

function methodOf({ to, input }: Called): string {
  return `method:${to?.toLowerCase() ?? "create"}:${input.slice(0, 10).toLowerCase()}`;
}

function readMeaning(call: Called, wallet: Address): Meaning {
  if (call.to === null) return exactly(call);
  const called = { ...call, to: call.to };
  const payment = readPayment(called, wallet);
  if (payment !== null) {
    return {
      kind: "transfer",
      deadline: null,
      ...payment,
      parties: [...partiesOf(call), ...payment.parties],
    };
  }
  const approval = readApproval(called);
  if (approval !== null) return approvalIntent(approval);
  const swap = readSwap(called, wallet);
  return swap === null ? exactly(call) : swapIntent(call, swap);
}

function approvalIntent({ token, spender }: { readonly token: Address; readonly spender: Address }): Meaning {
  return {
    kind: "approval",
    keys: [`approval:${token}:${spender}`],
    parties: [token, spender],
    spends: [],
    deadline: null,
  };
}

function swapIntent(call: Called, { legs, deadline }: SwapReading): Meaning {
  if (legs.length === 0) return { ...exactly(call), deadline };
  return {
    kind: "swap",
    keys: unique(legs.map(({ tokenIn, target, recipient }) => `swap:${tokenIn}:${target}:${recipient}`)),
    parties: unique([...partiesOf(call), ...legs.map(({ recipient }) => recipient)]),
    spends: legs.flatMap(({ spend }) => (spend === null ? [] : [spend])),
    deadline,
  };
}

function exactly({ to, input }: Called): Meaning {
  return {
    kind: "other",
    keys: [`call:${to?.toLowerCase() ?? "create"}:${input.slice(0, READ_CHARACTERS).toLowerCase()}`],
    parties: partiesOf({ to }),
    spends: [],
    deadline: null,
  };
}

/** Methods whose calldata tells more than whether it is the same. */
export const KNOWN_SELECTORS: readonly Hex[] = [
  ...PAYMENT_SELECTORS,
  ...APPROVAL_SELECTORS,
  ...SWAP_SELECTORS,
];

function unique<Text extends string>(texts: readonly Text[]): readonly Text[] {
  return [...new Set(texts)];
}

function partiesOf({ to }: Pick<Called, "to">): readonly Address[] {
  return to === null ? [] : [to.toLowerCase() as Address];
}
