import type { PublishPolicy } from "../publish/policy.ts";
import { proposeIntents } from "../publish/propose-intents.ts";
import type { Database } from "../store/database.ts";
import { insertScores, keepInputFiles, makeCurrent, type NewScore } from "../store/score-writes.ts";
import type { InputRecord, ScoredWallets } from "./score-wallets.ts";

export type StoreContext = {
  readonly db: Database;
  readonly chainId: number;
  readonly publishPolicy: PublishPolicy;
  readonly now: () => Date;
};

/** Records in one transaction: small enough for other writers to get their turn. */
const CHUNK = 500;

/**
 * Stores records with their input files, makes them current and writes their publishing intents, all or nothing for each
 * 500; any score replaces the current one of a wallet in `orphaned`.
 */
export async function storeRecords(
  context: StoreContext,
  scored: ScoredWallets,
  orphaned: readonly string[] = [],
): Promise<void> {
  const { db, chainId, publishPolicy, now } = context;
  await keepInputFiles(db, scored.files);
  for (let start = 0; start < scored.records.length; start += CHUNK) {
    const rows = scored.records.slice(start, start + CHUNK).map(toRow);
    await db.transaction(async (tx) => {
      const scoreIds = await insertScores(tx, rows);
      await makeCurrent(tx, scoreIds, orphaned);
      await proposeIntents(tx, { chainId, scoreIds, policy: publishPolicy, now: now() });
    });
  }
}

function toRow({ record, inputsHash }: InputRecord): NewScore {
  const { outcome, asOf } = record;
  const points =
    outcome.kind === "scored"
      ? {
          ahsScore: outcome.ahsScore,
          d1Score: outcome.d1Score,
          d2Score: outcome.d2Score,
          grade: outcome.grade,
        }
      : { ahsScore: null, d1Score: null, d2Score: null, grade: null };
  return {
    chainId: record.chainId,
    wallet: record.wallet,
    asOfBlock: asOf.blockNumber,
    asOfHash: asOf.blockHash,
    asOfTime: new Date(asOf.timestamp * 1000),
    modelVersion: record.modelVersion,
    ...points,
    confidenceMicros: record.confidenceMicros,
    confidenceLevel: record.confidenceLevel,
    sanctioned: record.sanctionsFlags.length > 0,
    sanctionsFlags: record.sanctionsFlags,
    patterns: record.patterns,
    features: record.features,
    coverage: record.coverage,
    inputsHash,
  };
}
