import { setImmediate } from "node:timers/promises";
import { type Address, type Hex, parseAbiParameters, toFunctionSelector } from "viem";
import { decodeParameters } from "../../chain/bounded-abi.ts";
import { lowerCase } from "../../db/columns.ts";
import { READ_CHARACTERS } from "./failed-calls.sql.ts";
import type { CallOutcomes, OutcomesQuery, SentCall } from "./failed-calls.ts";
import { readSwap, SWAP_SELECTORS, type TokenSpend } from "./read-swap.ts";

/** The intent of a call, read from its calldata. */
export type CallIntent = {
  readonly kind: "transfer" | "approval" | "swap" | "other";
  /** Two calls with a common key have the same effect: after one succeeded, the other must not be repeated. */
  readonly keys: readonly string[];
  /**
   * The called account and method. If calldata does not show the purpose (kind other), another call of the method may
   * have the same purpose. It is not repeated after another success and not offered together with another.
   */
  readonly method: string;
  /** Accounts involved: the called account, token owners, recipients and spenders; lower-case. */
  readonly parties: readonly Address[];
  /** Known for exact amounts alone. */
  readonly spends: readonly TokenSpend[];
  /** Unix seconds after which the contract refuses the call; null if the calldata has no deadline. */
  readonly deadline: bigint | null;
};

type Called = Pick<SentCall, "to" | "input" | "value">;

/**
 * Reads the intent of a wallet's call. A transfer is identified by token and recipient, a swap by its two tokens and
 * recipient, an allowance by token and spender. Any other call is identified by its target and calldata.
 */
export function readIntent(call: Called, wallet: Address): CallIntent {
  return { ...readMeaning(call, wallet), method: methodOf(call) };
}

/**
 * Returns whether two calls have or may have the same effect. Calls of one method may, if the calldata of one does not
 * show its purpose.
 */
export function mayBeSame(one: CallIntent, other: CallIntent): boolean {
  if (one.keys.some((key) => other.keys.includes(key))) return true;
  return one.method === other.method && (one.kind === "other" || other.kind === "other");
}

function methodOf({ to, input }: Called): string {
  return `method:${to?.toLowerCase() ?? "create"}:${input.slice(0, 10).toLowerCase()}`;
}

function readMeaning(call: Called, wallet: Address): Omit<CallIntent, "method"> {
  const exact = exactly(call);
  if (call.to === null) return exact;
  const called = { ...call, to: call.to };
  const payment = readPayment(called, wallet);
  if (payment !== null) {
    return { ...exact, kind: "transfer", ...payment, parties: [...exact.parties, ...payment.parties] };
  }
  const spender = readSpender(called);
  if (spender !== null) {
    const token = lowerCase(call.to);
    return { ...exact, kind: "approval", keys: [`approval:${token}:${spender}`], parties: [token, spender] };
  }
  const swap = readSwap(called, wallet);
  if (swap === null) return exact;
  const { legs, deadline } = swap;
  if (legs.length === 0) return { ...exact, deadline };
  return {
    kind: "swap",
    keys: unique(legs.map(({ tokenIn, target, recipient }) => `swap:${tokenIn}:${target}:${recipient}`)),
    parties: unique([...exact.parties, ...legs.map(({ recipient }) => recipient)]),
    spends: legs.flatMap(({ spend }) => (spend === null ? [] : [spend])),
    deadline,
  };
}

function exactly({ to, input }: Called): Omit<CallIntent, "method"> {
  return {
    kind: "other",
    keys: [`call:${to?.toLowerCase() ?? "create"}:${input.slice(0, READ_CHARACTERS).toLowerCase()}`],
    parties: to === null ? [] : [lowerCase(to)],
    spends: [],
    deadline: null,
  };
}

function unique<Text extends string>(texts: readonly Text[]): readonly Text[] {
  return [...new Set(texts)];
}

const TRANSFER = toFunctionSelector("transfer(address,uint256)");
const TRANSFER_FROM = toFunctionSelector("transferFrom(address,address,uint256)");

const TO_AMOUNT = parseAbiParameters("address, uint256");
const FROM_TO_AMOUNT = parseAbiParameters("address, address, uint256");

/** Selectors of the ERC-20 methods that pay. */
export const PAYMENT_SELECTORS: readonly Hex[] = [TRANSFER, TRANSFER_FROM];

/**
 * Reads an ERC-20 transfer or transferFrom, or a plain transfer of native coin; null for any other call, and for calldata
 * that is too short, which pays no one. `parties` are the recipient, and the token owner if it is not the wallet.
 */
function readPayment(
  { to, input }: { to: Address; input: Hex },
  wallet: Address,
): Pick<CallIntent, "keys" | "spends" | "parties"> | null {
  const token = lowerCase(to);
  if (input === "0x") return { keys: [`transfer:native:${token}`], spends: [], parties: [token] };
  const args = `0x${input.slice(10)}` as const;
  const selector = input.slice(0, 10).toLowerCase();
  if (selector === TRANSFER) {
    const [recipient, amount] = decodeParameters(TO_AMOUNT, args) ?? [];
    if (recipient === undefined || amount === undefined) return null;
    return { ...paymentTo(token, recipient), spends: [{ token, spender: null, amount }] };
  }
  if (selector !== TRANSFER_FROM) return null;
  const [owner, recipient, amount] = decodeParameters(FROM_TO_AMOUNT, args) ?? [];
  if (owner === undefined || recipient === undefined || amount === undefined) return null;
  const payment = paymentTo(token, recipient);
  if (lowerCase(owner) === wallet) return { ...payment, spends: [{ token, spender: wallet, amount }] };
  return { ...payment, parties: [lowerCase(owner), ...payment.parties], spends: [] };
}

function paymentTo(token: Address, recipient: Address) {
  return { keys: [`transfer:${token}:${lowerCase(recipient)}`], parties: [lowerCase(recipient)] };
}

/** ERC-20 approve and its two variants, and setApprovalForAll of collections; ERC-721's approve has the form of the first. */
export const APPROVAL_SELECTORS: readonly Hex[] = [
  "approve(address,uint256)",
  "increaseAllowance(address,uint256)",
  "decreaseAllowance(address,uint256)",
  "setApprovalForAll(address,bool)",
].map((signature) => toFunctionSelector(signature));

/** Methods whose purpose is readable from calldata. */
const KNOWN_SELECTORS: readonly Hex[] = [...PAYMENT_SELECTORS, ...APPROVAL_SELECTORS, ...SWAP_SELECTORS];

/** The spender of a call that changes an allowance, lower-case; null for any other call. */
function readSpender({ input }: { input: Hex }): Address | null {
  if (!APPROVAL_SELECTORS.includes(input.slice(0, 10).toLowerCase() as Hex)) return null;
  // Calldata that is too short changes nothing.
  const [spender] = decodeParameters(TO_AMOUNT, `0x${input.slice(10)}`) ?? [];
  return spender === undefined ? null : lowerCase(spender);
}

export type ReadCall<Call> = { readonly call: Call; readonly intent: CallIntent };

/** Characters of calldata per turn of the event loop: as many as are read of one call, some milliseconds. */
const TURN_CHARACTERS = READ_CHARACTERS;
/** Weight of a call without calldata. */
const LEAST_CHARACTERS = 256;

/** Reads the intents of calls and lets other work run in between. */
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

/** Processes items in order and lets other work run after each bounded part of their calldata. */
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
/** Characters of calldata that are searched; longer calldata carries data and names its accounts early. */
const MAX_DIGITS = 32_768;
const MAX_NAMED = 128;

/**
 * Accounts of a call: those of its intent, and all calldata of the form of an address at any byte, since calldata may
 * hold calldata. Lower-case and distinct.
 */
export function accountsOf(
  call: Pick<SentCall, "input">,
  intent: Pick<CallIntent, "parties">,
): ReadonlySet<Address> {
  return new Set([...intent.parties, ...namedIn(call.input)]);
}

/**
 * In a run of zeros every byte looks like the padding of an address. Addresses that start with a zero byte are read at
 * whole words only, which bounds the places per run.
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

/** The next whole word of a run of zeros, or one of its last two places. */
function nextPlace(at: number, last: number): number {
  const end = last - (last % 2);
  if (at >= end) return end + 2;
  return Math.min(end, at + WORD_DIGITS - (at % WORD_DIGITS));
}

/** Failures older than this are not offered again. */
export const RECENT_DAYS = 14;

/** Days of listed failures. */
export const LISTED_DAYS = 30;

/** A wallet's outcomes by the index alone; null while it holds no block. */
export function readRecentOutcomes(
  wallet: Address,
  { outcomes }: { readonly outcomes: (query: OutcomesQuery) => Promise<CallOutcomes | null> },
): Promise<CallOutcomes | null> {
  return outcomes({
    wallet,
    listedDays: LISTED_DAYS,
    recentDays: RECENT_DAYS,
    knownSelectors: KNOWN_SELECTORS,
  });
}
