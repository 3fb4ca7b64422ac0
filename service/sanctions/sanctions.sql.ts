/**
 * Sanctioned addresses of every source, as subqueries and joins of other statements. Every routing request reads them: rows
 * "read: GET /ahs/route/{address}" of bench/results.md.
 */
import { type SQL, sql } from "drizzle-orm";
import { indexOf } from "../db/index-tables.ts";
import { preparedByChain } from "../db/statement.ts";
import { sanctionsEntry, sanctionsReading } from "../db/tables/sanctions.ts";
import type { SanctionsFlag } from "../model/features/types.ts";

export const CONTRACT: SanctionsFlag["source"] = "chainalysis-oracle";
/** The one source that is imported. */
export const IMPORTED: SanctionsFlag["source"] = "ofac-sdn";

const [CONTRACT_SQL, IMPORTED_SQL] = [sql.raw(`'${CONTRACT}'`), sql.raw(`'${IMPORTED}'`)];

/** A subquery of every sanctioned address, once per source, up to a block, which is SQL; null is the newest block. */
export function sanctionsListSql(chainId: number, asOfBlock: SQL | null): SQL {
  const { sanctionsChange: event } = indexOf(chainId);
  const until = asOfBlock === null ? sql`true` : sql`${event.block} <= ${asOfBlock}`;
  const { address, block, readAt, listed } = sanctionsReading;
  return sql`(
    select address, ${CONTRACT_SQL} as source, transaction_hash as reference, (timestamp * 1000)::float8 as detected_ms from (
      select distinct on (${event.address}) ${event.address}, ${event.listed}, ${event.transactionHash}, ${event.timestamp}
      from ${event} where ${until} order by ${event.address}, ${event.block} desc, ${event.logIndex} desc
    ) newest
    where listed
    union all
    select ${address}, ${CONTRACT_SQL} as source, 'isSanctioned at block ' || ${block} as reference, ${msOf(sql`${readAt}`)} as detected_ms
    from ${sanctionsReading} where ${sanctionsReading.chainId} = ${chainId} and ${listed}
      and not exists (select from (select ${event.address} from ${event} where ${until}) e where e.address = ${address})
    union all
    select ${sanctionsEntry.address}, ${sanctionsEntry.source}, ${sanctionsEntry.reference}, ${msOf(sql`${sanctionsEntry.detectedAt}`)}
    from ${sanctionsEntry}
  ) as list`;
}

/** Reads that list up to a block. */
export const sanctionsList = preparedByChain<{ readonly asOfBlock: number }>(
  "sanctions_list",
  (chainId) => sql`select address, source, reference, detected_ms
    from ${sanctionsListSql(chainId, sql`${sql.placeholder("asOfBlock")}`)}
    order by address collate "C", source collate "C"`,
);

/** Joins FLAGS_COLUMNS of one address, which is SQL, by key alone, as every routing request waits for it. */
export function sanctionsFlagsJoin(chainId: number, address: SQL): SQL {
  const { sanctionsChange } = indexOf(chainId);
  return sql`
    left join lateral (
      select ${sanctionsChange.listed}, ${sanctionsChange.transactionHash}, ${sanctionsChange.timestamp} from ${sanctionsChange}
      where ${sanctionsChange.address} = ${address}
      order by ${sanctionsChange.block} desc, ${sanctionsChange.logIndex} desc limit 1
    ) as event on true
    left join ${sanctionsReading} as reading
      on reading.chain_id = ${chainId} and reading.address = ${address} and reading.listed
    left join ${sanctionsEntry} as entry on entry.source = ${IMPORTED_SQL} and entry.address = ${address}`;
}

/** Whole milliseconds: a timestamp of PostgreSQL may be finer than one of JavaScript. */
function msOf(moment: SQL): SQL<number> {
  return sql`floor(extract(epoch from ${moment}) * 1000)::float8`;
}

/** Columns that `sanctionsFlagsJoin` joins, for `flagsOf`. */
export const FLAGS_COLUMNS = sql`
  event.listed as event_listed, event.transaction_hash as event_reference, (event.timestamp * 1000)::float8 as event_ms,
  'isSanctioned at block ' || reading.block as reading_reference, ${msOf(sql`reading.read_at`)} as reading_ms,
  entry.reference as entry_reference, ${msOf(sql`entry.detected_at`)} as entry_ms`;

/** True if a row of `sanctionsFlagsJoin` has any flag; never null. */
export const IS_LISTED = sql`(coalesce(event.listed, reading.listed, false) or entry.address is not null)`;

/** FLAGS_COLUMNS of several addresses. */
export const flagsOfAddresses = preparedByChain<{ readonly addresses: readonly string[] }>(
  "sanctions_flags",
  (chainId) => sql`
    select wanted.address, ${FLAGS_COLUMNS} from unnest(${sql.placeholder("addresses")}::text[]) as wanted (address)
    ${sanctionsFlagsJoin(chainId, sql`wanted.address`)}`,
);

/** Wallets that are followed, scored or requested, without an event and without a reading of the contract. */
export function uncheckedWallets(chainId: number): SQL {
  const { wallet, sanctionsChange: event } = indexOf(chainId);
  return sql`(
    select address from (
      select ${wallet.address} from ${wallet}
      union select wallet from ahs.current_score where chain_id = ${chainId}
      union select wallet from ahs.stored_history where chain_id = ${chainId}
      union select wallet from ahs.enrolment where chain_id = ${chainId}
    ) known
    where not exists (select from ${event} where ${event.address} = known.address)
      and not exists (select from ahs.sanctions_reading r where r.chain_id = ${chainId} and r.address = known.address)
  ) as unchecked`;
}
