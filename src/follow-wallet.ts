import type { Context } from "ponder:registry";
import { wallet } from "ponder:schema";
import type { Address } from "viem";
import { indexSettings } from "../ponder.config.ts";

export type FollowSource = "registered" | "agent_wallet" | "requested" | "static";

const unfollowed: ReadonlySet<string> = new Set(indexSettings.unfollowed);

/**
 * Starts following a wallet at a block; returns false if it was followed before. A followed wallet keeps its first
 * source and block, and an unfollowed one gets no row.
 */
export async function followWallet(
  context: Context,
  follow: { address: Address; source: FollowSource; blockNumber: bigint },
): Promise<boolean> {
  if (unfollowed.has(follow.address)) return false;
  const inserted = await context.db
    .insert(wallet)
    .values({
      address: follow.address,
      source: follow.source,
      followedBlock: follow.blockNumber,
      ownCalls: 0,
      ownFailures: 0,
      firstCallBlock: null,
      lastCallBlock: null,
      lastCallAt: null,
      touchedBlock: follow.blockNumber,
      receivedWindow: null,
      received: 0,
      busyUntil: null,
    })
    .onConflictDoNothing();
  return inserted !== null;
}

/**
 * The row of a wallet that this source followed first; null if another source did, or nothing of it is stored any more.
 */
export async function findFollowed(
  context: Context,
  { address, source }: { readonly address: Address; readonly source: FollowSource },
): Promise<typeof wallet.$inferSelect | null> {
  if (unfollowed.has(address)) return null;
  const followed = await context.db.find(wallet, { address });
  return followed?.source === source ? followed : null;
}
