import type { Logger } from "pino";
import type { Address } from "viem";
import { readAsOf } from "../features/read-rows.ts";
import { findStaleScores } from "../publish/find-stale-scores.ts";
import { readDueWallets, readFollowedWallets, readOrphanedWallets } from "../store/score-writes.ts";
import { type ScoringContext, scoreAtFinalized, scoreAtNewest } from "./score-wallets.ts";
import { type StoreContext, storeRecords } from "./store-records.ts";

export type ScoringRunContext = ScoringContext &
  StoreContext & {
    /** Least seconds of chain time between two automatic scores of one wallet. */
    readonly rescoreIntervalSeconds: number;
    readonly logger: Logger;
  };

export type ScoringRun = { readonly scored: number; readonly flagged: number };

/** Wallets scored on one snapshot. */
const BATCH = 1_000;

/** Scores every wallet whose score is missing, outdated or orphaned, flags first; null while there is no finalized block. */
export async function scoreDueWallets(context: ScoringRunContext): Promise<ScoringRun | null> {
  const { db, chainId, publishPolicy, rescoreIntervalSeconds } = context;
  const asOf = await readAsOf(db.$client, `chain_${chainId}`);
  if (asOf === null) return null;
  const orphaned = await readOrphanedWallets(db, chainId, asOf.blockNumber);
  const stale = await findStaleScores(db, { chainId, now: context.now(), policy: publishPolicy });
  const changed = [...stale.flagChanged, ...orphaned];
  const flagged = await scoreBatches(context, changed, {
    score: scoreAtNewest,
    scoredBefore: changed,
    orphaned,
  });
  const due = await readDueWallets(db, {
    chainId,
    asOfBlock: asOf.blockNumber,
    asOfTime: asOf.timestamp,
    intervalSeconds: rescoreIntervalSeconds,
  });
  const scored = await scoreBatches(context, [...due, ...stale.overtaken], {
    score: scoreAtFinalized,
    scoredBefore: stale.overtaken,
    orphaned: [],
  });
  if (scored + flagged > 0)
    context.logger.info({ scored, flagged, asOf: asOf.blockNumber }, "wallets scored");
  return { scored, flagged };
}

/** Scores every followed wallet at the newest finalized block; answers how many, and null while there is no such block. */
export async function scoreAllWallets(context: ScoringRunContext): Promise<number | null> {
  if ((await readAsOf(context.db.$client, `chain_${context.chainId}`)) === null) return null;
  const wallets = await readFollowedWallets(context.db, context.chainId);
  return scoreBatches(context, wallets, { score: scoreAtFinalized, scoredBefore: [], orphaned: [] });
}

type Scoring = {
  readonly score: typeof scoreAtNewest;
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
  for (let start = 0; start < distinct.length; start += BATCH) {
    const scored = await how.score(context, distinct.slice(start, start + BATCH));
    if (scored === null) return count;
    const renewed = scored.strangers.filter(({ record }) => before.has(record.wallet));
    const records = [...scored.records, ...renewed];
    count += await storeRecords(context, { ...scored, records }, how.orphaned);
  }
  return count;
}
