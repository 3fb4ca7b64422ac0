import { and, eq, ne } from "drizzle-orm";
import type { Hex } from "viem";
import type { Database } from "../db/database.ts";
import { type EpochLeaf, epoch, inputFile } from "../db/tables/epoch.ts";

/** A nightly Merkle list as it was published. */
export type StoredEpoch = {
  readonly root: Hex;
  readonly leaves: readonly EpochLeaf[];
  readonly createdAt: Date;
};

/** The content of an input file by its hash (lower-case 0x hex); undefined when there is none. */
export async function readInputFile(db: Database, hash: Hex): Promise<unknown> {
  const [row] = await db.select().from(inputFile).where(eq(inputFile.hash, hash));
  return row?.content;
}

/** The root of one epoch; null when there is none, or when the oracle moved past it before it was published. */
export async function readEpochRoot(db: Database, chainId: number, number: number): Promise<Hex | null> {
  const [row] = await db
    .select({ root: epoch.root })
    .from(epoch)
    .where(and(eq(epoch.chainId, chainId), eq(epoch.epoch, number), ne(epoch.state, "superseded")));
  // Roots are only ever written as 0x hex by the publisher.
  return row === undefined ? null : (row.root as Hex);
}

/** One epoch's list; null when there is none, or when the oracle moved past it before it was published. */
export async function readEpoch(db: Database, chainId: number, number: number): Promise<StoredEpoch | null> {
  const [row] = await db
    .select()
    .from(epoch)
    .where(and(eq(epoch.chainId, chainId), eq(epoch.epoch, number), ne(epoch.state, "superseded")));
  return row === undefined ? null : { root: row.root as Hex, leaves: row.leaves, createdAt: row.createdAt };
}
