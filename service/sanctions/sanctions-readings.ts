import { and, count, desc, eq, sql } from "drizzle-orm";
import type { Address } from "viem";
import { holdChain, isIndexed } from "../db/chain-fence.ts";
import { isOneOf } from "../db/columns.ts";
import { builderOn, type Database } from "../db/database.ts";
import type { ArrayReader } from "../db/index-snapshot.ts";
import { hasTables, indexOf, numberOf } from "../db/index-tables.ts";
import { sanctionsReading } from "../db/tables/sanctions.ts";
import type { AsOf } from "../model/features/types.ts";
import { uncheckedWallets } from "./sanctions.sql.ts";

/** The newest indexed block; null without one, or without an index to read. */
export async function readNewestBlock(client: ArrayReader, chainId: number): Promise<AsOf | null> {
  const db = builderOn(client);
  const { block, wallet, sanctionsChange } = indexOf(chainId);
  if (!(await hasTables(db, chainId, block, wallet, sanctionsChange))) return null;
  const [newest] = await db
    .select({
      blockNumber: numberOf(block.number),
      blockHash: block.hash,
      timestamp: numberOf(block.timestamp),
    })
    .from(block)
    .orderBy(desc(block.number))
    .limit(1);
  return newest ?? null;
}

/** Some of the wallets that the contract has to be asked about, in no order. */
export async function readUnaskedWallets(
  client: ArrayReader,
  chainId: number,
  limit: number,
): Promise<readonly Address[]> {
  const rows = await builderOn(client)
    .select({ address: sql<Address>`address` })
    .from(uncheckedWallets(chainId))
    // Random order: a wallet that fails again and again does not block the others.
    .orderBy(sql`random()`)
    .limit(limit);
  return rows.map(({ address }) => address);
}

/** How many wallets the contract still has to be asked about. */
export async function countUncheckedWallets(client: ArrayReader, chainId: number): Promise<number> {
  const [row] = await builderOn(client).select({ wallets: count() }).from(uncheckedWallets(chainId));
  return row?.wallets ?? Number.NaN;
}

/** True if an indexed event or a reading of the contract exists for an address (lower-case). */
export async function isKnown(client: ArrayReader, chainId: number, address: Address): Promise<boolean> {
  const db = builderOn(client);
  const { sanctionsChange } = indexOf(chainId);
  const isRead = and(eq(sanctionsReading.chainId, chainId), eq(sanctionsReading.address, address));
  return (
    (await db.$count(sanctionsChange, eq(sanctionsChange.address, address))) > 0 ||
    (await db.$count(sanctionsReading, isRead)) > 0
  );
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
    const { sanctionsChange: event } = indexOf(chainId);
    const listed = await tx
      .selectDistinct({ address: event.address })
      .from(event)
      .where(isOneOf(event.address, addresses));
    const byEvents = new Set(listed.map(({ address }) => address));
    const fresh = readings
      .filter(({ address }) => !byEvents.has(address))
      .map((reading) => ({ ...reading, chainId, block: blockNumber, readAt }));
    if (fresh.length > 0) await tx.insert(sanctionsReading).values(fresh).onConflictDoNothing();
    return fresh.length;
  });
}
