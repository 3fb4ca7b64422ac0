import { setImmediate } from "node:timers/promises";
import { type Address, type Hex, parseAbiParameters, toFunctionSelector } from "viem";
import { decodeParameters } from "../../chain/bounded-abi.ts";
import { READ_CHARACTERS, type SentCall } from "./failed-calls.ts";
import { readSwap, SWAP_SELECTORS, type SwapReading, type TokenSpend } from "./read-swap.ts";

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

function unique<Text extends string>(texts: readonly Text[]): readonly Text[] {
  return [...new Set(texts)];
}

function partiesOf({ to }: Pick<Called, "to">): readonly Address[] {
  return to === null ? [] : [to.toLowerCase() as Address];
}

const TRANSFER = toFunctionSelector("transfer(address,uint256)");
const TRANSFER_FROM = toFunctionSelector("transferFrom(address,address,uint256)");

const TO_AMOUNT = parseAbiParameters("address, uint256");
const FROM_TO_AMOUNT = parseAbiParameters("address, address, uint256");

/** Selectors of the ERC-20 methods that pay. */
export const PAYMENT_SELECTORS: readonly Hex[] = [TRANSFER, TRANSFER_FROM];

/** Its parties are who is paid, and whose tokens pay where those are not the wallet's. */
type Payment = Pick<CallIntent, "keys" | "spends" | "parties">;

/** What an ERC-20 transfer or transferFrom, or a plain transfer of the native coin, pays to whom; null for any other call. */
function readPayment(
  { to, input }: { readonly to: Address; readonly input: Hex },
  wallet: Address,
): Payment | null {
  if (input === "0x") return { keys: [`transfer:native:${lower(to)}`], spends: [], parties: [lower(to)] };
  const token = lower(to);
  const args = `0x${input.slice(10)}` as const;
  switch (input.slice(0, 10).toLowerCase()) {
    case TRANSFER: {
      const paid = decodeParameters(TO_AMOUNT, args);
      // Calldata of this selector that is too short pays nobody.
      if (paid === null) return null;
      const [recipient, amount] = paid;
      return { ...paymentTo(token, recipient), spends: [{ token, spender: null, amount }] };
    }
    case TRANSFER_FROM: {
      const paid = decodeParameters(FROM_TO_AMOUNT, args);
      if (paid === null) return null;
      const [owner, recipient, amount] = paid;
      if (lower(owner) === wallet) {
        return { ...paymentTo(token, recipient), spends: [{ token, spender: wallet, amount }] };
      }
      return { ...paymentTo(token, recipient), parties: [lower(owner), lower(recipient)], spends: [] };
    }
    default:
      return null;
  }
}

function paymentTo(token: Address, recipient: Address): Pick<Payment, "keys" | "parties"> {
  return { keys: [`transfer:${token}:${lower(recipient)}`], parties: [lower(recipient)] };
}

function lower(address: Address): Address {
  return address.toLowerCase() as Address;
}

/** ERC-20 approve and its two variants, and setApprovalForAll of collections; ERC-721's approve has the form of the first. */
export const APPROVAL_SELECTORS: readonly Hex[] = [
  "approve(address,uint256)",
  "increaseAllowance(address,uint256)",
  "decreaseAllowance(address,uint256)",
  "setApprovalForAll(address,bool)",
].map((signature) => toFunctionSelector(signature));

/** Methods whose calldata tells more than whether it is the same. */
export const KNOWN_SELECTORS: readonly Hex[] = [
  ...PAYMENT_SELECTORS,
  ...APPROVAL_SELECTORS,
  ...SWAP_SELECTORS,
];

const SPENDER_AND_MORE = parseAbiParameters("address, uint256");

/** Who may spend what after a call that changes an allowance, lower-case; null for any other call. */
function readApproval({ to, input }: { readonly to: Address; readonly input: Hex }): {
  readonly token: Address;
  readonly spender: Address;
} | null {
  if (!APPROVAL_SELECTORS.includes(input.slice(0, 10).toLowerCase() as Hex)) return null;
  const [spender] = decodeParameters(SPENDER_AND_MORE, `0x${input.slice(10)}`) ?? [];
  // Calldata of this selector that is too short allows nothing.
  if (spender === undefined) return null;
  return { token: to.toLowerCase() as Address, spender: spender.toLowerCase() as Address };
}

/** A call with what it is meant to bring about. */
export type ReadCall<Call> = { readonly call: Call; readonly intent: CallIntent };

/** Characters of calldata that one turn of the event loop works on: as many as are read of one call, in some milliseconds. */
const TURN_CHARACTERS = READ_CHARACTERS;
/** What a call without calldata counts as. */
const LEAST_CHARACTERS = 256;

/** Reads what calls are meant to bring about, and lets other work have its turn in between. */
export async function readIntents<Call extends Called>(
  calls: readonly Call[],
  wallet: Address,
): Promise<readonly ReadCall<Call>[]> {
  const read: ReadCall<Call>[] = [];
  await inTurns(
    calls.map((call) => ({ call })),
    ({ call }) => read.push({ call, intent: readIntent(call, wallet) }),
  );
  return read;
}

/** Works on one item after the other, and lets other work have its turn after each bounded part of their calldata. */
export async function inTurns<Item extends { readonly call: Pick<Called, "input"> }>(
  items: readonly Item[],
  work: (item: Item) => unknown,
): Promise<void> {
  let characters = 0;
  for (const item of items) {
    const size = Math.max(LEAST_CHARACTERS, Math.min(item.call.input.length, READ_CHARACTERS));
    if (characters + size > TURN_CHARACTERS) {
      await setImmediate();
      characters = 0;
    }
    work(item);
    characters += size;
  }
}

/** Hex digits: an address fills the last 20 of 32 bytes. */
const PADDING_DIGITS = 24;
const PADDING = /0{24,}/g;
const ADDRESS_DIGITS = 40;
const WORD_DIGITS = 64;
/** Of calldata; what is longer carries data, and names its accounts early. */
const MAX_DIGITS = 32_768;
const MAX_NAMED = 128;

/**
 * Accounts that a call deals with or names: those of its intent, and whatever in its calldata has the form of an address,
 * at any byte, since calldata may hold calldata. Lower-case, each once.
 */
export function accountsOf(
  call: Pick<SentCall, "input">,
  intent: Pick<CallIntent, "parties">,
): ReadonlySet<Address> {
  return new Set([...intent.parties, ...namedIn(call.input)]);
}

/**
 * Within a run of zeros every byte looks like the padding of an address: one that starts with a zero byte is read at whole words
 * alone, so that a run has few places to look at.
 */
function namedIn(input: Hex): readonly Address[] {
  const digits = input.slice(10, MAX_DIGITS).toLowerCase();
  const found = new Set<Address>();
  for (const { 0: zeros, index: start } of digits.matchAll(PADDING)) {
    const last = start + zeros.length - PADDING_DIGITS;
    for (let at = start + (start % 2); at <= last && found.size < MAX_NAMED; at = nextPlace(at, last)) {
      const isLikely = at >= last - 1 || at % WORD_DIGITS === 0;
      const named = digits.slice(at + PADDING_DIGITS, at + PADDING_DIGITS + ADDRESS_DIGITS);
      if (isLikely && named.length === ADDRESS_DIGITS) found.add(`0x${named}`);
    }
  }
  return [...found];
}

/** The next whole word of a run of zeros, but none of its last two places is passed over. */
function nextPlace(at: number, last: number): number {
  const end = last - (last % 2);
  if (at >= end) return end + 2;
  return Math.min(end, at + WORD_DIGITS - (at % WORD_DIGITS));
}
