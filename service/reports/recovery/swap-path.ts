import type { Address, Hex } from "viem";

const ADDRESS_DIGITS = 40;
/** A V3 path: token, fee of 3 bytes, token, fee, … */
const HOP_DIGITS = ADDRESS_DIGITS + 6;

/** Routers take these for the caller, or keep what was bought and hand it to the caller in a later step. */
const SELF = new Set([0n, 1n, 2n]);

/** First and last token of a packed V3 path, lower-case; empty for one that is malformed. */
export function tokensOfPath(path: Hex): readonly Address[] {
  const digits = path.slice(2).toLowerCase();
  if (digits.length < HOP_DIGITS + ADDRESS_DIGITS || (digits.length - ADDRESS_DIGITS) % HOP_DIGITS !== 0) {
    return [];
  }
  return [`0x${digits.slice(0, ADDRESS_DIGITS)}`, `0x${digits.slice(-ADDRESS_DIGITS)}`];
}

/** Who gets what was bought, with the routers' words for the caller resolved; lower-case. */
export function recipientOf(named: Address, wallet: Address): Address {
  return SELF.has(BigInt(named)) ? wallet : (named.toLowerCase() as Address);
}
