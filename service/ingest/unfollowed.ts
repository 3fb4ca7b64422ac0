import { and, asc, eq } from "drizzle-orm";
import type { Address } from "viem";
import type { Database } from "../db/database.ts";
import { unfollowed } from "../db/tables/history.ts";

/** The addresses of a chain that are not followed, in lower case, and since when; the oldest entry first. */
export async function readUnfollowed(db: Database, chainId: number) {
  return db
    .select({ address: unfollowed.address, addedAt: unfollowed.addedAt })
    .from(unfollowed)
    .where(eq(unfollowed.chainId, chainId))
    .orderBy(asc(unfollowed.addedAt), asc(unfollowed.address));
}

/** Stops following an address, in lower case; false where it is not followed already. */
export async function addUnfollowed(db: Database, chainId: number, address: Address): Promise<boolean> {
  const { rowCount } = await db.insert(unfollowed).values({ chainId, address }).onConflictDoNothing();
  return rowCount !== 0;
}

/** Lets an address be followed again; false where it was not in the list. */
export async function removeUnfollowed(db: Database, chainId: number, address: Address): Promise<boolean> {
  const { rowCount } = await db
    .delete(unfollowed)
    .where(and(eq(unfollowed.chainId, chainId), eq(unfollowed.address, address)));
  return rowCount !== 0;
}
