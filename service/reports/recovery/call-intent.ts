import type { Address, Hex } from "viem";
import { READ_CHARACTERS, type SentCall } from "./failed-calls.ts";
import { APPROVAL_SELECTORS, readApproval } from "./read-approval.ts";
import { PAYMENT_SELECTORS, readPayment } from "./read-payment.ts";
import { readSwap, SWAP_SELECTORS, type SwapReading } from "./read-swap.ts";

/** Tokens that a call takes out of the wallet; spender is null where the wallet itself sends them. */
export type TokenSpend = {
  readonly token: Address;
  readonly spender: Address | null;
  readonly amount: bigint;
};

/** What a call is meant to bring about, by its calldata. */
export type CallIntent = {
  readonly kind: "transfer" | "approval" | "swap" | "other";
  /** Two calls that share one of these bring about the same: one must not be made again once the other succeeded. */
  readonly keys: readonly string[];
  /**
   * The called account and method. Where calldata does not tell what a call is for (kind other), another call of its method may
   * be meant for the same: none is made again once another succeeded, and none together with another.
   */
  readonly method: string;
  /** Whom it deals with: the called account, whose tokens, who is paid, who may spend; lower-case. */
  readonly parties: readonly Address[];
  /** Known for exact amounts alone. */
  readonly spends: readonly TokenSpend[];
  /** Unix seconds after which the called contract refuses; null where the calldata names none. */
  readonly deadline: bigint | null;
};

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
