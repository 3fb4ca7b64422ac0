import canonicalize from "canonicalize";
import { type Address, type Hex, keccak256, stringToHex } from "viem";

/** An address, lower-case, and the list's own name for the entry. */
export type ListedAddress = { readonly address: Address; readonly reference: string };

/**
 * keccak256 of a list's RFC 8785 JSON: its addresses in rising order, each once with its reference and nothing else, so that
 * everybody who read the same edition has the same hash.
 */
export function sanctionsListHash(entries: readonly ListedAddress[]): Hex {
  const list = entries
    .map(({ address, reference }) => ({ address, reference }))
    .toSorted((a, b) => (a.address < b.address ? -1 : 1));
  const json = canonicalize(list);
  if (json === undefined) throw new TypeError("only JSON has a canonical form");
  return keccak256(stringToHex(json));
}
