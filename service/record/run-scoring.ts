import type { Logger } from "pino";
import type { Address } from "viem";
import { createContactCaches } from "../features/contact-cache.ts";
import { readAsOf } from "../features/read-as-of.ts";
import { findStaleScores } from "../publish/find-stale-scores.ts";
import { readDueWallets, readFollowedWallets, readOrphanedWallets } from "../store/score-writes.ts";
import { readBatches } from "./read-batches.ts";
import { type ScoredBlock, type ScoringContext, scoreRead } from "./score-wallets.ts";
import { type StoreContext, storeRecords } from "./store-records.ts";

export type ScoringRunContext = ScoringContext &
  StoreContext & {
    /** Least seconds of chain time between two automatic scores of one wallet. */
    readonly rescoreIntervalSeconds: number;
    readonly logger: Logger;
  };

export type ScoringRun = { readonly scored: number; readonly flagged: number };

/**
 * Scores every wallet whose score is missing, outdated or orphaned, or whose confidence fell a level by waiting, flags
 * first; null while no block is both finalized and enriched.
 */
export async function scoreDueWallets(context: ScoringRunContext): Promise<ScoringRun | null> {
  const { db, chainId, publishPolicy, rescoreIntervalSeconds } = context;
  const asOf = await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId });
  if (asOf === null) return null;
  const orphaned = await readOrphanedWallets(db, chainId, asOf.blockNumber);
  const stale = await findStaleScores(db, { chainId, now: context.now(), policy: publishPolicy });
  const changed = [...stale.flagChanged, ...orphaned];
  const flagged = await scoreBatches(context, changed, { at: "newest", scoredBefore: changed, orphaned });
  const due = await readDueWallets(db, {
    chainId,
    asOfBlock: asOf.blockNumber,
    asOfTime: asOf.timestamp,
    intervalSeconds: rescoreIntervalSeconds,
  });
  const scored = await scoreBatches(context, [...due, ...stale.overtaken], {
    at: "finalized",
    scoredBefore: [...due, ...stale.overtaken],
    orphaned: [],
  });
  if (scored + flagged > 0)
    context.logger.info({ scored, flagged, asOf: asOf.blockNumber }, "wallets scored");
  return { scored, flagged };
}

/** Scores every followed wallet at the newest finalized and enriched block; answers how many, and null while there is none. */
export async function scoreAllWallets(context: ScoringRunContext): Promise<number | null> {
  const { db, chainId } = context;
  if ((await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId })) === null) return null;
  const wallets = await readFollowedWallets(db, chainId);
  return scoreBatches(context, wallets, { at: "finalized", scoredBefore: [], orphaned: [] });
}

type Scoring = {
  readonly at: ScoredBlock;
  /** Wallets with a score, which is renewed even where they are no longer followed or listed. */
  readonly scoredBefore: readonly string[];
  readonly orphaned: readonly string[];
};

async function scoreBatches(
  context: ScoringRunContext,
  wallets: readonly string[],
  how: Scoring,
): Promise<number> {
  let count = 0;
  const distinct = [...new Set(wallets)] as Address[];
  const before = new Set(how.scoredBefore);
  const task = { wallets: distinct, at: how.at, contacts: createContactCaches() };
  for await (const read of readBatches(context, task)) {
    const scored = await scoreRead(read, context.policy);
    const renewed = scored.strangers.filter(({ record }) => before.has(record.wallet));
    const records = [...scored.records, ...renewed];
    count += await storeRecords(context, { ...scored, records }, how.orphaned);
  }
  return count;
}
