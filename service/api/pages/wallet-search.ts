import type { Address } from "viem";

/** What somebody looks for. */
export type WalletSearch =
  /** Nothing: the whole order. */
  | { readonly kind: "all" }
  /** One wallet, lower-case. */
  | { readonly kind: "address"; readonly address: Address }
  /** The beginning of an address, lower-case. */
  | { readonly kind: "prefix"; readonly prefix: string }
  /** A number that an agent may have; a name may be one as well. */
  | { readonly kind: "agent"; readonly agentId: bigint; readonly name: string }
  | { readonly kind: "name"; readonly name: string };

const MAX_CHARACTERS = 128;

/** A query as it is shown again: one line, without what is not seen. */
export function shownQuery(given: string): string {
  // Cut before what is not seen goes: a half of what two code units make is nothing that a URL can carry.
  return given.replace(/\s+/gu, " ").slice(0, MAX_CHARACTERS).replace(/\p{C}/gu, "").trim();
}

/** What a query, as `shownQuery` leaves it, looks for. */
export function searchFor(query: string): WalletSearch {
  if (query === "") return { kind: "all" };
  const lower = query.toLowerCase();
  // The pattern is that of an address.
  if (/^0x[0-9a-f]{40}$/.test(lower)) return { kind: "address", address: lower as Address };
  if (/^0x[0-9a-f]*$/.test(lower) && lower.length < 42) return { kind: "prefix", prefix: lower };
  const number = /^#?([0-9]{1,77})$/.exec(query)?.[1];
  return number === undefined
    ? { kind: "name", name: query }
    : { kind: "agent", agentId: BigInt(number), name: query };
}
