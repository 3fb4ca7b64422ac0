import { escapeIdentifier } from "pg";
import { type ArrayReader, readBlock } from "../db/index-snapshot.ts";
import type { AsOf } from "../model/features/types.ts";

/** The block that a record speaks for, and the one up to which own calls are known: no later than that. */
export type ReadPoint = { readonly asOf: AsOf; readonly enriched: AsOf };

/** The newest finalized block that the index holds; null before there is one, or before the index is ready to be read. */
export async function readFinalized(client: ArrayReader, schema: string): Promise<AsOf | null> {
  if (!(await isReady(client, schema))) return null;
  return readBlock(client, { name: `finalized-${schema}`, text: finalizedSql(schema) });
}

async function isReady(client: ArrayReader, schema: string): Promise<boolean> {
  const { rows } = await client.query({
    name: "index-ready",
    text: "select to_regclass($1) is not null and to_regclass($2) is not null",
    values: [checkpointOf(schema), `${escapeIdentifier(schema)}.block`],
    rowMode: "array",
  });
  return rows[0]?.[0] === true;
}

function checkpointOf(schema: string): string {
  return `${escapeIdentifier(schema)}._ponder_checkpoint`;
}

// A checkpoint is a 10-digit time, a 16-digit chain id and a 16-digit block number, then places within the block.
function finalizedSql(schema: string): string {
  return `
    select b.number::float8, b.hash, b.timestamp::float8
    from ${checkpointOf(schema)} c
    cross join lateral (
      select number, hash, timestamp from ${escapeIdentifier(schema)}.block
      where number <= substring(c.finalized_checkpoint from 27 for 16)::numeric
      order by number desc limit 1
    ) b
    order by b.number limit 1`;
}

/** Seconds that enrichment may be behind what is final: until then its rows are of the past, and no record of today. */
const LONGEST_LAG = 3_600;

/** The newest block that is finalized and enriched; null without one, or if it is an hour of the chain's time behind. */
export async function readAsOf(
  client: ArrayReader,
  { schema, chainId }: { readonly schema: string; readonly chainId: number },
): Promise<AsOf | null> {
  if (!(await isReady(client, schema))) return null;
  return readBlock(client, {
    name: `as-of-${schema}`,
    text: asOfSql(schema),
    values: [chainId],
  });
}

/** SQL of that block: number (float8), hash and timestamp (float8), or no row. $1 is the chain. */
export function asOfSql(schema: string): string {
  return `
    select b.number::float8, b.hash, b.timestamp::float8
    from (${finalizedSql(schema)}) finalized (number, hash, timestamp)
    join ahs.enrich_cursor c on c.chain_id = $1 and c.block <= finalized.number
    join ${escapeIdentifier(schema)}.block b on b.number = c.block and b.hash = c.block_hash
    where finalized.timestamp - b.timestamp <= ${LONGEST_LAG}`;
}

/** The newest indexed block, with the own calls that are known by then; null where `readAsOf` is. */
export async function readNewest(
  client: ArrayReader,
  chain: { readonly schema: string; readonly chainId: number },
): Promise<ReadPoint | null> {
  const enriched = await readAsOf(client, chain);
  if (enriched === null) return null;
  const asOf = await readBlock(client, {
    name: `newest-${chain.schema}`,
    text: `select number::float8, hash, timestamp::float8 from ${escapeIdentifier(chain.schema)}.block
           order by number desc limit 1`,
  });
  return asOf === null ? null : { asOf, enriched };
}
