import { and, eq, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { isOneOf } from "../db/is-one-of.ts";
import { sanctionsEntry, sanctionsSource } from "../db/tables/sanctions.ts";
import type { SanctionsFlag } from "../model/features/types.ts";
import type { SanctionsClient } from "./sanctions.ts";

type Source = SanctionsFlag["source"];

/** An imported list as it stands. */
export type StoredList = {
  /** Null where nothing was ever imported, or the list has no edition. */
  readonly edition: string | null;
  /** By rising address. */
  readonly entries: readonly { readonly address: Address; readonly reference: string }[];
};

/** Reads an imported list and keeps other imports of it waiting until the transaction ends. */
export async function takeSanctionsList(tx: NodePgDatabase, source: Source): Promise<StoredList> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`ahs-sanctions:${source}`}, 0))`);
  const [known] = await tx.select().from(sanctionsSource).where(eq(sanctionsSource.source, source));
  const entries = await tx
    .select({ address: sanctionsEntry.address, reference: sanctionsEntry.reference })
    .from(sanctionsEntry)
    .where(eq(sanctionsEntry.source, source))
    .orderBy(sql`${sanctionsEntry.address} collate "C"`);
  return {
    edition: known?.edition ?? null,
    entries: entries.map(({ address, reference }) => ({ address: address as Address, reference })),
  };
}

export type StoredImport = {
  readonly listHash: Hex;
  readonly entries: number;
  readonly edition: string | null;
  readonly checkedAt: Date;
};

/** What the last import of a list left; null where there was none. */
export async function readImport(client: SanctionsClient, source: Source): Promise<StoredImport | null> {
  const { rows } = await client.query({
    text: "select list_hash, entries, edition, checked_at from ahs.sanctions_source where source = $1",
    values: [source],
    rowMode: "array",
  });
  const [row] = rows as [Hex, number, string | null, Date][];
  if (row === undefined) return null;
  const [listHash, entries, edition, checkedAt] = row;
  return { listHash, entries, edition, checkedAt };
}

export type ListChange = {
  readonly source: Source;
  readonly edition: string;
  readonly listHash: Hex;
  /** Entries of the whole list. */
  readonly entries: number;
  /** New, or under another reference than before: the moment of their detection stays. */
  readonly put: readonly { readonly address: Address; readonly reference: string }[];
  readonly removed: readonly Address[];
  readonly at: Date;
};

/** Rows in one statement: each takes four parameters of at most 65,535. */
const CHUNK = 10_000;

/** Writes what an import changed, and that it took place; the caller's transaction makes it all or nothing. */
export async function writeSanctionsList(tx: NodePgDatabase, change: ListChange): Promise<void> {
  const { source, at, edition, listHash, entries, put, removed } = change;
  for (let start = 0; start < put.length; start += CHUNK) {
    await tx
      .insert(sanctionsEntry)
      .values(put.slice(start, start + CHUNK).map((entry) => ({ ...entry, source, detectedAt: at })))
      .onConflictDoUpdate({
        target: [sanctionsEntry.source, sanctionsEntry.address],
        set: { reference: sql`excluded.reference` },
      });
  }
  if (removed.length > 0)
    await tx
      .delete(sanctionsEntry)
      .where(and(eq(sanctionsEntry.source, source), isOneOf(sanctionsEntry.address, removed)));
  await tx
    .insert(sanctionsSource)
    .values({ source, listHash, entries, edition, checkedAt: at, changedAt: at })
    .onConflictDoUpdate({
      target: sanctionsSource.source,
      set: {
        listHash,
        entries,
        edition,
        checkedAt: at,
        changedAt: sql`case when ${sanctionsSource.listHash} = excluded.list_hash
          then ${sanctionsSource.changedAt} else excluded.changed_at end`,
      },
    });
}
