import { escapeIdentifier, type QueryArrayConfig, type QueryArrayResult } from "pg";
import type { Hex } from "viem";
import type { AsOf } from "./types.ts";

/** A pg client or pool; what it reads is of one moment only within one REPEATABLE READ transaction, which the caller opens. */
export type Snapshot = {
  readonly query: (config: QueryArrayConfig) => Promise<QueryArrayResult>;
};

/** The block that a record speaks for, and the one up to which own calls are known: no later than that. */
export type ReadPoint = { readonly asOf: AsOf; readonly enriched: AsOf };

/** The newest finalized block that the index holds; null before there is one, or before the index is ready to be read. */
export async function readFinalized(client: Snapshot, schema: string): Promise<AsOf | null> {
  const checkpoint = `${escapeIdentifier(schema)}._ponder_checkpoint`;
  const ready = await client.query({
    text: "select to_regclass($1) is not null and to_regclass($2) is not null",
    values: [checkpoint, `${escapeIdentifier(schema)}.block`],
    rowMode: "array",
  });
  if (ready.rows[0]?.[0] !== true) return null;
  // A checkpoint is a 10-digit time, a 16-digit chain id and a 16-digit block number, then places within the block.
  return readBlock(client, {
    text: `
      select b.number::float8, b.hash, b.timestamp::float8
      from ${checkpoint} c
      cross join lateral (
        select number, hash, timestamp from ${escapeIdentifier(schema)}.block
        where number <= substring(c.finalized_checkpoint from 27 for 16)::numeric
        order by number desc limit 1
      ) b
      order by b.number limit 1`,
    values: [],
  });
}

/** Seconds that enrichment may be behind what is final: until then its rows are of the past, and no record of today. */
const LONGEST_LAG = 3_600;

/**
 * The newest block that is both finalized and enriched; null while there is none, while the index does not hold the block
 * up to which the chain was enriched as a finalized one, and while that is an hour of the chain's time behind.
 */
export async function readAsOf(
  client: Snapshot,
  { schema, chainId }: { readonly schema: string; readonly chainId: number },
): Promise<AsOf | null> {
  const finalized = await readFinalized(client, schema);
  if (finalized === null) return null;
  const enriched = await readBlock(client, {
    text: `
      select b.number::float8, b.hash, b.timestamp::float8
      from ahs.enrich_cursor c
      join ${escapeIdentifier(schema)}.block b on b.number = c.block and b.hash = c.block_hash
      where c.chain_id = $1 and c.block <= $2`,
    values: [chainId, finalized.blockNumber],
  });
  return enriched === null || finalized.timestamp - enriched.timestamp > LONGEST_LAG ? null : enriched;
}

/** The newest indexed block, with the own calls that are known by then; null where `readAsOf` is. */
export async function readNewest(
  client: Snapshot,
  chain: { readonly schema: string; readonly chainId: number },
): Promise<ReadPoint | null> {
  const enriched = await readAsOf(client, chain);
  if (enriched === null) return null;
  const asOf = await readBlock(client, {
    text: `select number::float8, hash, timestamp::float8 from ${escapeIdentifier(chain.schema)}.block
           order by number desc limit 1`,
    values: [],
  });
  return asOf === null ? null : { asOf, enriched };
}

async function readBlock(
  client: Snapshot,
  query: { readonly text: string; readonly values: readonly unknown[] },
): Promise<AsOf | null> {
  const { rows } = await client.query({ text: query.text, values: [...query.values], rowMode: "array" });
  const [row] = rows as [number, Hex, number][];
  return row === undefined ? null : { blockNumber: row[0], blockHash: row[1], timestamp: row[2] };
}
