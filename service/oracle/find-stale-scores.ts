import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { PublishPolicy } from "./policy.ts";
import { readIndexedBlock } from "./publish-records.ts";
import { readOvertakenWallets, readWalletsWithChangedFlag } from "./publish-scores.ts";
import { reviewQuery } from "./publisher.ts";

/** Wallets, lower-case, that have to be scored again before they can be published. */
export type StaleScores = {
  /**
   * Listed or delisted since their newest score, or flagged otherwise by an oracle record that is as new: score them at
   * the newest indexed block, at once.
   */
  readonly flagChanged: readonly string[];
  /** Others due for a heartbeat or differing from the oracle's record, which is as new as the score: score at a finalized block. */
  readonly overtaken: readonly string[];
};

/** Finds the scores that publishing waits for; none while there is no index. */
export async function findStaleScores(
  db: NodePgDatabase,
  query: { readonly chainId: number; readonly now: Date; readonly policy: PublishPolicy },
): Promise<StaleScores> {
  if ((await readIndexedBlock(db, query.chainId)) === null) return { flagChanged: [], overtaken: [] };
  const flagChanged = await readWalletsWithChangedFlag(db, query.chainId);
  const overtaken = await readOvertakenWallets(db, reviewQuery(query.chainId, query.now, query.policy));
  const hurried = new Set(flagChanged);
  return { flagChanged, overtaken: overtaken.filter((wallet) => !hurried.has(wallet)) };
}
