import type { Address, Hex } from "viem";
import type { SentCall } from "./failed-calls.ts";
import type { CallIntent } from "./recovery-types.ts";

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
