import { sql } from "drizzle-orm";
import { escapeIdentifier } from "pg";
import type { Address } from "viem";
import { holdChain, isIndexed } from "../db/chain-fence.ts";
import type { Database } from "../db/database.ts";
import { type ArrayReader, readBlock, viewOf } from "../db/index-snapshot.ts";
import { sanctionsReading } from "../db/tables/sanctions.ts";
import type { AsOf } from "../model/features/types.ts";

type ChainViews = { readonly schema: string; readonly chainId: number };

/** The newest indexed block; null without one, or without an index to read. */
export async function readNewestBlock(client: ArrayReader, schema: string): Promise<AsOf | null> {
  const views = escapeIdentifier(schema);
  const ready = await client.query({
    text: "select to_regclass($1) is not null and to_regclass($2) is not null and to_regclass($3) is not null",
    values: [`${views}.block`, `${views}.wallet`, `${views}.sanctions_change`],
    rowMode: "array",
  });
  if (ready.rows[0]?.[0] !== true) return null;
  return readBlock(client, {
    text: `select number::int8::float8, hash, timestamp::int8::float8 from ${views}.block order by number desc limit 1`,
  });
}

/** Some of the wallets that the contract has to be asked about, in no order. */
export async function readUnaskedWallets(
  client: ArrayReader,
  { schema, chainId, limit }: ChainViews & { readonly limit: number },
): Promise<readonly Address[]> {
  const { rows } = await client.query({
    // Random order: a wallet that fails again and again does not block the others.
    text: `select address from ${uncheckedSql(schema)} order by random() limit $2`,
    values: [chainId, limit],
    rowMode: "array",
  });
  return (rows as [Address][]).map(([address]) => address);
}

/** How many wallets the contract still has to be asked about. */
export async function countUncheckedWallets(client: ArrayReader, { schema, chainId }: ChainViews) {
  const { rows } = await client.query({
    text: `select count(*)::int from ${uncheckedSql(schema)}`,
    values: [chainId],
    rowMode: "array",
  });
  return Number(rows[0]?.[0]);
}

/** True if an indexed event or a reading of the contract exists for an address (lower-case). */
export async function isToldOf(
  client: ArrayReader,
  { schema, chainId, address }: ChainViews & { readonly address: Address },
): Promise<boolean> {
  const { rows } = await client.query({
    text: `select exists (select from ${escapeIdentifier(schema)}.sanctions_change where address = $2)
             or exists (select from ahs.sanctions_reading where chain_id = $1 and address = $2)`,
    values: [chainId, address],
    rowMode: "array",
  });
  return rows[0]?.[0] === true;
}

/** $1 chain. Wallets that are followed, scored or requested, without an event and without a reading. */
function uncheckedSql(schema: string): string {
  const views = escapeIdentifier(schema);
  return `(
    select address from (
      select address from ${views}.wallet
      union select wallet from ahs.current_score where chain_id = $1
      union select wallet from ahs.kept_history where chain_id = $1
      union select wallet from ahs.enrolment where chain_id = $1
    ) known
    where not exists (select from ${views}.sanctions_change e where e.address = known.address)
      and not exists (select from ahs.sanctions_reading r where r.chain_id = $1 and r.address = known.address)
  ) as unchecked`;
}

export type SanctionsReading = { readonly address: Address; readonly listed: boolean };

/**
 * Stores readings of the contract and returns how many: none if the index no longer holds the block, and none of addresses with
 * an event, so that a reading is of before the first one, whatever a reorg replaces.
 */
export async function keepReadings(
  db: Database,
  at: Omit<AsOf, "timestamp"> & { readonly chainId: number; readonly readAt: Date },
  readings: readonly SanctionsReading[],
): Promise<number> {
  const { chainId, blockNumber, readAt } = at;
  if (readings.length === 0) return 0;
  return db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    if (!(await isIndexed(tx, chainId, at))) return 0;
    const addresses = readings.map(({ address }) => address);
    const listed = await tx.execute<{ address: string }>(
      sql`select distinct address from ${viewOf(chainId, "sanctions_change")} where address = any(${sql.param(addresses)})`,
    );
    const byEvents = new Set(listed.rows.map(({ address }) => address));
    const kept = readings
      .filter(({ address }) => !byEvents.has(address))
      .map((reading) => ({ ...reading, chainId, block: blockNumber, readAt }));
    if (kept.length > 0) await tx.insert(sanctionsReading).values(kept).onConflictDoNothing();
    return kept.length;
  });
}
