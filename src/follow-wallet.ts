import type { Context } from "ponder:registry";
import { wallet } from "ponder:schema";
import type { Address } from "viem";

export type FollowSource = "registered" | "agent_wallet" | "requested" | "static";

/** Starts following a wallet at a block, and answers whether it did; one already followed keeps its first source and block. */
export async function followWallet(
  context: Context,
  follow: { address: Address; source: FollowSource; blockNumber: bigint },
): Promise<boolean> {
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
    })
    .onConflictDoNothing();
  return inserted !== null;
}
