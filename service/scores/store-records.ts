import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { tellChanges, watchWallets } from "../alerts/notify-subscribers.ts";
import { holdChain, isIndexed } from "../db/chain-fence.ts";
import type { Database } from "../db/database.ts";
import type { PublishPolicy } from "../oracle/policy.ts";
import { proposeIntents } from "../oracle/propose-intents.ts";
import type { InputRecord, ScoredWallets } from "./score-wallets.ts";
import { insertScores, keepInputFiles, makeCurrent, type NewScore } from "./score-writes.ts";

export type StoreContext = {
  readonly db: Database;
  readonly chainId: number;
  readonly publishPolicy: PublishPolicy;
  readonly now: () => Date;
  /** What must be stored with the records, or not at all; called in each transaction that stores some. */
  readonly alongside?: (tx: NodePgDatabase) => Promise<void>;
};

/** Records in one transaction: small enough for other writers to get their turn. */
const CHUNK = 500;

/**
 * Stores records with their input files, makes them current, writes their publishing intents and tells subscribers what
 * changed, all or nothing for each 500, and answers how many: none of a block that the index no longer holds, because of a reorg or of another chain. Any
 * score replaces the current one of a wallet in `orphaned`.
 */
export async function storeRecords(
  context: StoreContext,
  scored: ScoredWallets,
  orphaned: readonly string[] = [],
): Promise<number> {
  const { db, chainId, publishPolicy, now } = context;
  const own = scored.records.flatMap(({ inputs, counterparties }) => [inputs, counterparties]);
  await keepInputFiles(db, [...scored.files, ...own]);
  // Every writer takes the wallets in one order: two of them never wait for each other crosswise.
  const rows = scored.records.map(toRow).toSorted((a, b) => (a.wallet < b.wallet ? -1 : 1));
  let stored = 0;
  for (let start = 0; start < rows.length; start += CHUNK) {
    const chunk = rows.slice(start, start + CHUNK);
    const isStored = await db.transaction(async (tx) => {
      await holdChain(tx, chainId);
      if (!(await isIndexed(tx, chainId, scored.asOf))) return false;
      const wallets = chunk.map(({ wallet }) => wallet);
      const watched = await watchWallets(tx, { chainId, wallets, at: now() });
      const scoreIds = await insertScores(tx, chunk);
      await makeCurrent(tx, scoreIds, orphaned);
      await tellChanges(tx, watched);
      await proposeIntents(tx, { chainId, scoreIds, policy: publishPolicy, now: now() });
      await context.alongside?.(tx);
      return true;
    });
    if (!isStored) return stored;
    stored += chunk.length;
  }
  return stored;
}

function toRow({ record, inputs }: InputRecord): NewScore {
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
    levelUntil: record.levelUntil === null ? null : new Date(record.levelUntil * 1000),
    inputsHash: inputs.hash,
  };
}
