import { eq, lt, sql } from "drizzle-orm";
import type { Hex } from "viem";
import type { Database } from "./database.ts";
import { chainMark } from "./tables/chain-mark.ts";

export type ChainMark = {
  readonly blockNumber: number;
  readonly blockHash: Hex;
  readonly generation: string;
};

/** The block by which this database knows its chain; null before the first finalized block. */
export async function readChainMark(db: Database, chainId: number): Promise<ChainMark | null> {
  const [row] = await db.select().from(chainMark).where(eq(chainMark.chainId, chainId));
  if (row === undefined) return null;
  return { blockNumber: row.blockNumber, blockHash: row.blockHash as Hex, generation: row.generation };
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
