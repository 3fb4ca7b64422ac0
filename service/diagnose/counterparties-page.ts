import type { Address } from "viem";
import { compareTexts } from "./compare.ts";

/** What the order of a list follows from: most interactions first, then by rising address. */
export type Ranked = { readonly address: Address; readonly interactions: number };

/** The last entry of a page, after which the next one goes on. */
export type Position = Ranked;

export type Page<Entry> = {
  readonly entries: readonly Entry[];
  /** Null after the last page. */
  readonly next: Position | null;
};

/** Below zero where `one` comes first: by falling interactions, then by rising address; no two addresses are equal. */
export function compareRanked(one: Ranked, other: Ranked): number {
  return other.interactions - one.interactions || compareTexts(one.address, other.address);
}

/** The entries of a sorted list after a position, at most `limit`: pages that follow one another tile the list. */
export function pageOf<Entry extends Ranked>(
  sorted: readonly Entry[],
  after: Position | null,
  limit: number,
): Page<Entry> {
  const start = after === null ? 0 : sorted.findIndex((entry) => compareRanked(after, entry) < 0);
  if (start < 0) return { entries: [], next: null };
  const entries = sorted.slice(start, start + limit);
  const last = entries.at(-1);
  if (last === undefined || start + limit >= sorted.length) return { entries, next: null };
  return { entries, next: { address: last.address, interactions: last.interactions } };
}
