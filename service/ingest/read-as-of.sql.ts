/**
 * The newest blocks to read a chain at. Every batch of scoring reads them first: row "scoring: one wallet, beside reading and
 * hashing it" of bench/results.md.
 */
import { type SQL, sql } from "drizzle-orm";
import { checkpointOf, indexOf, tablesExist } from "../db/index-tables.ts";
import { preparedByChain } from "../db/statement.ts";

/** Seconds that enrichment may be behind what is final: until then its rows are of the past, and no record of today. */
const LONGEST_LAG = sql.raw("3600");

/** Whether the index has the tables that these statements read. */
export const indexReady = preparedByChain(
  "index_ready",
  (chainId) => sql`select ${tablesExist(chainId, checkpointOf(chainId), indexOf(chainId).block)}`,
);

/** The newest finalized block that the index holds: number (float8), hash and timestamp (float8), or no row. */
export const finalized = preparedByChain("finalized", finalizedSql);

// A checkpoint is a 10-digit time, a 16-digit chain id and a 16-digit block number, then places within the block.
function finalizedSql(chainId: number): SQL {
  const { block } = indexOf(chainId);
  const checkpoint = checkpointOf(chainId);
  return sql`
    select b.number::float8, b.hash, b.timestamp::float8
    from ${checkpoint}
    cross join lateral (
      select ${block.number}, ${block.hash}, ${block.timestamp} from ${block}
      where ${block.number} <= substring(${checkpoint.finalizedCheckpoint} from 27 for 16)::numeric
      order by ${block.number} desc limit 1
    ) b
    order by b.number limit 1`;
}

/** The same of the newest block that is finalized and enriched. */
export const asOf = preparedByChain("as_of", asOfSql);

export function asOfSql(chainId: number): SQL {
  const { block } = indexOf(chainId);
  return sql`
    select ${block.number}::float8, ${block.hash}, ${block.timestamp}::float8
    from (${finalizedSql(chainId)}) finalized (number, hash, timestamp)
    join ahs.enrich_cursor c on c.chain_id = ${chainId} and c.block <= finalized.number
    join ${block} on ${block.number} = c.block and ${block.hash} = c.block_hash
    where finalized.timestamp - ${block.timestamp} <= ${LONGEST_LAG}`;
}

/** The same of the newest indexed block. */
export const newest = preparedByChain("newest", (chainId) => {
  const { block } = indexOf(chainId);
  return sql`select ${block.number}::float8, ${block.hash}, ${block.timestamp}::float8 from ${block}
    order by ${block.number} desc limit 1`;
});
