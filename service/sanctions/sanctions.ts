import { escapeIdentifier } from "pg";
import type { Address } from "viem";
import { type Database, QUERY_DEADLINE } from "../db/database.ts";
import type { ArrayReader } from "../db/index-snapshot.ts";
import type { SanctionsFlag } from "../model/features/types.ts";

/** An address with one list that contains it. */
export type SanctionsEntry = SanctionsFlag & { readonly address: Address };

/**
 * Every sanctioned address of every source, once per source, by (address, source); `schema` is the views schema of the index.
 * The contract's list: the newest event of an address up to the block, else its reading. Imported lists have no block:
 * their present state counts.
 */
export async function readSanctionsEntries(
  client: ArrayReader,
  { schema, chainId, asOfBlock }: { schema: string; chainId: number; asOfBlock: number },
): Promise<readonly SanctionsEntry[]> {
  const { rows } = await client.query({
    name: `sanctions-list-${schema}`,
    text: `select address, source, reference, detected_ms
           from ${sanctionsListSql({ schema, chainId: "$2", asOfBlock: "$1" })}
           order by address collate "C", source collate "C"`,
    values: [asOfBlock, chainId],
    rowMode: "array",
  });
  return (rows as [Address, SanctionsFlag["source"], string, number][]).map(
    ([address, source, reference, detected_ms]) => ({
      address,
      ...flagOf({ source, reference, detected_ms }),
    }),
  );
}

/** The flags of these addresses, lower-case, at the newest indexed block, by source; an address without any has no entry. */
export async function readSanctionsFlags(
  db: Database,
  { schema, chainId }: { readonly schema: string; readonly chainId: number },
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, readonly SanctionsFlag[]>> {
  const { rows } = await db.$client.query<FlagsRow & { address: Address }>({
    ...QUERY_DEADLINE,
    text: `select wanted.address, ${FLAGS_COLUMNS} from unnest($1::text[]) as wanted (address)
           ${sanctionsFlagsJoin({ schema, address: "wanted.address", chainId: "$2" })}`,
    values: [[...new Set(addresses)], chainId],
  });
  const found = rows.map((row) => [row.address, flagsOf(row)] as const);
  return new Map(found.filter(([, flags]) => flags.length > 0));
}

/** The flags that imported lists give an address, lower-case: all that is known of one without an index. */
export async function readImportedFlags(db: Database, address: Address): Promise<readonly SanctionsFlag[]> {
  const { rows } = await db.$client.query<FlagRow>(
    `select ${ENTRY_FLAG} from ahs.sanctions_entry where source = '${IMPORTED}' and address = $1`,
    [address],
  );
  return rows.map(flagOf);
}

/** A subquery of every sanctioned address, once per source. `chainId` and `asOfBlock` are SQL; null is the newest block. */
export function sanctionsListSql(of: { schema: string; chainId: string; asOfBlock: string | null }): string {
  const events = `${escapeIdentifier(of.schema)}.sanctions_change`;
  const until = of.asOfBlock === null ? "true" : `block <= ${of.asOfBlock}`;
  return `(
    select address, ${EVENT_FLAG} from (
      select distinct on (address) address, listed, transaction_hash, timestamp from ${events}
      where ${until} order by address, block desc, log_index desc
    ) newest
    where listed
    union all
    select address, ${READING_FLAG} from ahs.sanctions_reading r
    where chain_id = ${of.chainId} and listed
      and not exists (select from (select address from ${events} where ${until}) e where e.address = r.address)
    union all
    select address, ${ENTRY_FLAG} from ahs.sanctions_entry
  ) as list`;
}

/** Joins FLAGS_COLUMNS of one address by key alone, as every routing request waits for it; `address` and `chainId` are SQL. */
export function sanctionsFlagsJoin(of: { schema: string; address: string; chainId: string }): string {
  return `
    left join lateral (
      select listed, transaction_hash, timestamp from ${escapeIdentifier(of.schema)}.sanctions_change
      where address = ${of.address} order by block desc, log_index desc limit 1
    ) as event on true
    left join ahs.sanctions_reading as reading
      on reading.chain_id = ${of.chainId} and reading.address = ${of.address} and reading.listed
    left join ahs.sanctions_entry as entry on entry.source = '${IMPORTED}' and entry.address = ${of.address}`;
}

const CONTRACT: SanctionsFlag["source"] = "chainalysis-oracle";
/** The one source that is imported. */
const IMPORTED: SanctionsFlag["source"] = "ofac-sdn";

const EVENT_FLAG = `'${CONTRACT}' as source, transaction_hash as reference, (timestamp * 1000)::float8 as detected_ms`;
const READING_FLAG = `'${CONTRACT}' as source, 'isSanctioned at block ' || block as reference, ${msOf("read_at")} as detected_ms`;
const ENTRY_FLAG = `source, reference, ${msOf("detected_at")} as detected_ms`;

/** Columns that `sanctionsFlagsJoin` joins, for `flagsOf`. */
export const FLAGS_COLUMNS = `
  event.listed as event_listed, event.transaction_hash as event_reference, (event.timestamp * 1000)::float8 as event_ms,
  'isSanctioned at block ' || reading.block as reading_reference, ${msOf("reading.read_at")} as reading_ms,
  entry.reference as entry_reference, ${msOf("entry.detected_at")} as entry_ms`;

/** True if a row of `sanctionsFlagsJoin` has any flag; never null. */
export const IS_LISTED = `(coalesce(event.listed, reading.listed, false) or entry.address is not null)`;

/** Whole milliseconds: a timestamp of PostgreSQL may be finer than one of JavaScript. */
function msOf(column: string): string {
  return `floor(extract(epoch from ${column}) * 1000)::float8`;
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
