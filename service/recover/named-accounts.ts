import type { Address, Hex } from "viem";
import type { SentCall } from "../store/failed-calls.ts";
import type { CallIntent } from "./call-intent.ts";

/** Hex digits: an address fills the last 20 of 32 bytes. */
const PADDING = "0".repeat(24);
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

function namedIn(input: Hex): readonly Address[] {
  const digits = input.slice(10, MAX_DIGITS).toLowerCase();
  const found = new Set<Address>();
  for (let at = digits.indexOf(PADDING); at !== -1 && found.size < MAX_NAMED; ) {
    const named = digits.slice(at + PADDING.length, at + PADDING.length + ADDRESS_DIGITS);
    if (named.length < ADDRESS_DIGITS) break;
    if (at % 2 === 0 && isLikely(named, at)) found.add(`0x${named}`);
    at = digits.indexOf(PADDING, at + 1);
  }
  return [...found];
}

/** Within a run of zeros every byte looks like the start of an address: one with zeros in front is read at whole words alone. */
function isLikely(named: string, at: number): boolean {
  return !named.startsWith("00") || at % WORD_DIGITS === 0;
}
