import type { ListedAddress } from "./list-file.ts";

/** The list in force until an import replaces it. */
export type StoredList = {
  /** Null where nothing was ever imported. */
  readonly edition: string | null;
  readonly entries: readonly ListedAddress[];
};

export type ImportRules = {
  /** Takes a list without any address. */
  readonly allowEmpty: boolean;
  /** Takes a list that shrank by more than half, or that is older than the kept one. */
  readonly force: boolean;
};

/** The changes of an import, or why the present list stays: a list that looks damaged clears no address. */
export function planImport(
  stored: StoredList,
  next: { readonly edition: string; readonly entries: readonly ListedAddress[] },
  { allowEmpty, force }: ImportRules,
) {
  if (next.entries.length === 0 && !allowEmpty)
    return refused("it has no EVM address; --allow-empty takes it all the same");
  if (!force && stored.edition !== null && next.edition < stored.edition)
    return refused(
      `its edition, ${next.edition}, is older than the kept one, ${stored.edition}; --force takes it all the same`,
    );
  const before = stored.entries.length;
  if (!force && next.entries.length * 2 < before)
    return refused(
      `it has ${next.entries.length} addresses where the kept one has ${before}; --force takes it all the same`,
    );
  const known = new Map(stored.entries.map(({ address, reference }) => [address, reference]));
  const listed = new Set(next.entries.map(({ address }) => address));
  const added = next.entries.filter(({ address }) => !known.has(address));
  const changed = next.entries.filter(({ address, reference }) => {
    const earlier = known.get(address);
    return earlier !== undefined && earlier !== reference;
  });
  return {
    kind: "import" as const,
    added,
    changed,
    removed: stored.entries.filter(({ address }) => !listed.has(address)),
    unchanged: next.entries.length - added.length - changed.length,
  };
}

function refused(reason: string) {
  return { kind: "refused" as const, reason };
}
