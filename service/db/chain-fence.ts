import { and, eq, lt, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import type { Database } from "./database.ts";
import { hasTables, indexOf } from "./index-tables.ts";
import { lockName } from "./session.sql.ts";
import { chainMark } from "./tables/quarantine.ts";

/**
 * Keeps `resetChain` waiting until the transaction ends. Every writer of rows about the chain's blocks calls it
 * first: a reset then clears all of them, or is over before they are written.
 */
export async function holdChain(tx: NodePgDatabase, chainId: number): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock_shared(hashtextextended(${fenceOf(chainId)}, 0))`);
}

/** Waits for every transaction that holds the chain, and keeps others waiting until this one ends. */
export async function takeChain(tx: NodePgDatabase, chainId: number): Promise<void> {
  await lockName(tx, fenceOf(chainId));
}

/** Whether the index holds this very block; false where there is no index. */
export async function isIndexed(
  tx: NodePgDatabase,
  chainId: number,
  block: { readonly blockNumber: number; readonly blockHash: Hex },
): Promise<boolean> {
  const { block: indexed } = indexOf(chainId);
  if (!(await hasTables(tx, chainId, indexed))) return false;
  const { number, hash } = indexed;
  const isBlock = and(eq(number, BigInt(block.blockNumber)), eq(hash, block.blockHash));
  return (await tx.$count(indexed, isBlock)) > 0;
}

function fenceOf(chainId: number): string {
  return `ahs-chain:${chainId}`;
}

export type ChainMark = Pick<typeof chainMark.$inferSelect, "blockNumber" | "blockHash" | "generation">;

/** The block by which this database knows its chain; null before the first finalized block. */
export async function readChainMark(db: Database, chainId: number): Promise<ChainMark | null> {
  const { blockNumber, blockHash, generation } = chainMark;
  const [mark] = await db
    .select({ blockNumber, blockHash, generation })
    .from(chainMark)
    .where(eq(chainMark.chainId, chainId));
  return mark ?? null;
}

/** Moves the mark to a newer finalized block, never back; the generation is set by the first mark and kept. */
export async function advanceChainMark(db: Database, chainId: number, mark: ChainMark): Promise<void> {
  await db
    .insert(chainMark)
    .values({ chainId, ...mark })
    .onConflictDoUpdate({
      target: chainMark.chainId,
      set: { blockNumber: mark.blockNumber, blockHash: mark.blockHash, updatedAt: sql`now()` },
      // Two builds of the index may be followed at once, and be a block apart.
      setWhere: lt(chainMark.blockNumber, mark.blockNumber),
    });
}
