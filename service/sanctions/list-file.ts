import canonicalize from "canonicalize";
import { type Address, type Hex, keccak256, stringToHex } from "viem";
import type { SanctionsFlag } from "../model/features/types.ts";
import type { SanctionsEntry } from "./sanctions.ts";

/**
 * The sanctions lists that a record was computed with, as JSON, of entries in any order. When a source was last checked is left
 * out: it changes no record.
 */
export function sanctionsListFile(entries: readonly SanctionsEntry[]): {
  /** Every source with entries, by name, with the hash of its own list. */
  readonly sources: readonly {
    readonly source: SanctionsFlag["source"];
    readonly list_hash: Hex;
    readonly entries: number;
  }[];
  /** By (address, source). */
  readonly entries: readonly SanctionsEntry[];
} {
  const key = ({ address, source }: SanctionsEntry) => `${address} ${source}`;
  const sorted = entries.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  const names = [...new Set(sorted.map(({ source }) => source))].sort();
  return {
    sources: names.map((source) => {
      const own = sorted.filter((entry) => entry.source === source);
      return { source, list_hash: sanctionsListHash(own), entries: own.length };
    }),
    entries: sorted,
  };
}

/** An address, lower-case, and the list's own name for the entry. */
export type ListedAddress = { readonly address: Address; readonly reference: string };

/** keccak256 of a list's RFC 8785 JSON: addresses in rising order with references. Two readers of one edition get one hash. */
export function sanctionsListHash(entries: readonly ListedAddress[]): Hex {
  const list = entries
    .map(({ address, reference }) => ({ address, reference }))
    .toSorted((a, b) => (a.address < b.address ? -1 : 1));
  const json = canonicalize(list);
  if (json === undefined) throw new TypeError("only JSON has a canonical form");
  return keccak256(stringToHex(json));
}

/** A list that must not take the place of the last one; the message says what is wrong with it. */
export class RefusedList extends Error {
  override readonly name = "RefusedList";
}
