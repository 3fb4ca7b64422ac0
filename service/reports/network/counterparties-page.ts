import { createHash } from "node:crypto";
import type { Address } from "viem";
import { compareTexts } from "../diagnosis/compare.ts";

/** What the order of a list follows from: most own calls first, then most that was brought, then by rising address. */
export type Ranked = {
  readonly address: Address;
  /** Own calls to it. */
  readonly calls: number;
  /** Whole millionths of a US dollar that it sent; 0 for an account that was called, whose rank nobody else decides. */
  readonly broughtMicroUsd: number;
};

/** The last entry of a page, after which the next one goes on. */
export type Position = Ranked;

export type Page<Entry> = {
  readonly entries: readonly Entry[];
  /** Null after the last page. */
  readonly next: Position | null;
};

/** Below zero where `one` comes first; no two addresses are equal. */
export function compareRanked(one: Ranked, other: Ranked): number {
  return (
    other.calls - one.calls ||
    other.broughtMicroUsd - one.broughtMicroUsd ||
    compareTexts(one.address, other.address)
  );
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
  return {
    entries,
    next: { address: last.address, calls: last.calls, broughtMicroUsd: last.broughtMicroUsd },
  };
}

/** 16 hexadecimal digits that tell a sorted list from any other: whose rank changed, pages of the one do not go on in the other. */
export function listDigest(sorted: readonly Ranked[]): string {
  const hash = createHash("sha256");
  for (const { address, calls, broughtMicroUsd } of sorted)
    hash.update(`${address} ${calls} ${broughtMicroUsd}\n`);
  return hash.digest("hex").slice(0, 16);
}
