import type { Hex } from "viem";
import type { SanctionsFlag } from "../model/features/types.ts";
import { sanctionsListHash } from "./list-hash.ts";
import type { SanctionsEntry } from "./sanctions.ts";

/** The sanctions lists that a record was computed with, as JSON. */
export type SanctionsListFile = {
  /** Every source that lists somebody, by name, with the hash of its own list. */
  readonly sources: readonly {
    readonly source: SanctionsFlag["source"];
    readonly list_hash: Hex;
    readonly entries: number;
  }[];
  /** By (address, source). */
  readonly entries: readonly SanctionsEntry[];
};

/** The file of these entries, which come in any order. When a source was last checked is left out: it changes no record. */
export function sanctionsListFile(entries: readonly SanctionsEntry[]): SanctionsListFile {
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
