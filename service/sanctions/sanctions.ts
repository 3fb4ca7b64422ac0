import { and, eq } from "drizzle-orm";
import type { Address } from "viem";
import { type Database, rowsInTime } from "../db/database.ts";
import type { ArrayReader } from "../db/index-snapshot.ts";
import { sanctionsEntry } from "../db/tables/sanctions.ts";
import type { SanctionsFlag } from "../model/features/types.ts";
import { CONTRACT, flagsOfAddresses, IMPORTED, sanctionsList } from "./sanctions.sql.ts";

/** An address with one list that contains it. */
export type SanctionsEntry = SanctionsFlag & { readonly address: Address };

/**
 * Every sanctioned address of every source, once per source, by (address, source). The contract's list: the newest event of an
 * address up to the block, else its reading. Imported lists have no block: their present state counts.
 */
export async function readSanctionsEntries(
  client: ArrayReader,
  { chainId, asOfBlock }: { readonly chainId: number; readonly asOfBlock: number },
): Promise<readonly SanctionsEntry[]> {
  const { rows } = await client.query<[Address, SanctionsFlag["source"], string, number]>({
    ...sanctionsList(chainId, { asOfBlock }),
    rowMode: "array",
  });
  return rows.map(([address, source, reference, detected_ms]) => ({
    address,
    ...flagOf({ source, reference, detected_ms }),
  }));
}

/** The flags of these addresses, lower-case, at the newest indexed block, by source; an address without any has no entry. */
export async function readSanctionsFlags(
  db: Database,
  chainId: number,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, readonly SanctionsFlag[]>> {
  const wanted = flagsOfAddresses(chainId, { addresses: [...new Set(addresses)] });
  const rows = await rowsInTime<FlagsRow & { address: Address }>(db, wanted);
  const found = rows.map((row) => [row.address, flagsOf(row)] as const);
  return new Map(found.filter(([, flags]) => flags.length > 0));
}

/** The flags that imported lists give an address, lower-case: all that is known of one without an index. */
export async function readImportedFlags(db: Database, address: Address): Promise<readonly SanctionsFlag[]> {
  const { source, reference, detectedAt } = sanctionsEntry;
  const rows = await db
    .select({ source, reference, detectedAt })
    .from(sanctionsEntry)
    .where(and(eq(source, IMPORTED), eq(sanctionsEntry.address, address)));
  return rows.map(({ detectedAt, ...row }) => ({ ...row, detected_at: detectedAt.toISOString() }));
}

/** Both values of a pair are null if the source has no entry for the address. */
export type FlagsRow = {
  readonly event_listed: boolean | null;
  readonly event_reference: string | null;
  readonly event_ms: number | null;
  readonly reading_reference: string | null;
  readonly reading_ms: number | null;
  readonly entry_reference: string | null;
  readonly entry_ms: number | null;
};

/** The flags of a row, by source. An event of the contract overrides an earlier reading. */
export function flagsOf(row: FlagsRow): readonly SanctionsFlag[] {
  const contract =
    row.event_listed === null
      ? flagOrNone(CONTRACT, row.reading_reference, row.reading_ms)
      : flagOrNone(CONTRACT, row.event_listed ? row.event_reference : null, row.event_ms);
  return [...contract, ...flagOrNone(IMPORTED, row.entry_reference, row.entry_ms)];
}

function flagOrNone(
  source: SanctionsFlag["source"],
  reference: string | null,
  detected_ms: number | null,
): readonly SanctionsFlag[] {
  return reference === null || detected_ms === null ? [] : [flagOf({ source, reference, detected_ms })];
}

type FlagRow = Omit<SanctionsFlag, "detected_at"> & { readonly detected_ms: number };

function flagOf({ source, reference, detected_ms }: FlagRow): SanctionsFlag {
  return { source, reference, detected_at: new Date(detected_ms).toISOString() };
}
