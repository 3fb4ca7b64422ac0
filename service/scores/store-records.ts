import { and, eq, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { notifyChanges, watchWallets } from "../alerts/notify-subscribers.ts";
import { holdChain, isIndexed } from "../db/chain-fence.ts";
import type { Database } from "../db/database.ts";
import { inputFile } from "../db/tables/publish.ts";
import { currentScore, score } from "../db/tables/score.ts";
import { proposeIntents } from "../oracle/propose-intents.ts";
import type { PublishPolicy } from "../oracle/publish-policy.ts";
import type { InputFile } from "./inputs-hash.ts";
import type { InputRecord, ScoredWallets } from "./score-wallets.ts";
import type { StoredScore } from "./stored-score.ts";

export type StoreContext = {
  readonly db: Database;
  readonly chainId: number;
  readonly publishPolicy: PublishPolicy;
  readonly now: () => Date;
};

/** Records in one transaction: small enough for other writers to get their turn. */
const CHUNK = 500;

/**
 * Stores records with their input files, makes them current, writes their publishing intents and notifies
 * subscriptions: all or nothing for each 500. Returns how many it stored; none if the index no longer holds the block.
 * Any score replaces the current one of a wallet in `orphaned`.
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
      await notifyChanges(tx, watched);
      await proposeIntents(tx, { chainId, scoreIds, policy: publishPolicy, now: now() });
      return true;
    });
    if (!isStored) return stored;
    stored += chunk.length;
  }
  return stored;
}

/** The row of a record. */
export function toRow({ record, inputs }: InputRecord): NewScore {
  const { chainId, wallet, modelVersion, confidenceMicros, confidenceLevel, outcome, asOf, levelUntil } =
    record;
  const { sanctionsFlags, patterns, features, coverage } = record;
  const { ahsScore, d1Score, d2Score, grade } = outcome.kind === "scored" ? outcome : NO_POINTS;
  return {
    chainId,
    wallet,
    modelVersion,
    ahsScore,
    d1Score,
    d2Score,
    grade,
    confidenceMicros,
    confidenceLevel,
    sanctionsFlags,
    patterns,
    features,
    coverage,
    asOfBlock: asOf.blockNumber,
    asOfHash: asOf.blockHash,
    asOfTime: new Date(asOf.timestamp * 1000),
    sanctioned: sanctionsFlags.length > 0,
    levelUntil: levelUntil === null ? null : new Date(levelUntil * 1000),
    inputsHash: inputs.hash,
  };
}

/** The points of a record without enough history. */
const NO_POINTS = { ahsScore: null, d1Score: null, d2Score: null, grade: null } as const;

export type NewScore = typeof score.$inferInsert;

/** Stores the files behind inputs hashes; an existing file does not change. */
export async function keepInputFiles(db: NodePgDatabase, files: readonly InputFile[]): Promise<void> {
  const distinct = [...new Map(files.map((file) => [file.hash, file])).values()];
  // In one order for every writer: two of them never wait for each other crosswise.
  const rows = distinct.toSorted((a, b) => (a.hash < b.hash ? -1 : 1));
  for (let start = 0; start < rows.length; start += FILES) {
    // As one text: the files are JSON already.
    const entries = rows.slice(start, start + FILES).map(({ hash, json }) => `["${hash}",${json}]`);
    await db.execute(sql`
      insert into ${inputFile} (hash, content)
      select entry ->> 0, entry -> 1 from jsonb_array_elements(${`[${entries.join()}]`}::jsonb) entry
      on conflict do nothing`);
  }
}

/** Input files stored by one statement. */
const FILES = 500;

/** Adds scores to the history and answers their ids; the same inputs scored twice are one row. */
async function insertScores(tx: NodePgDatabase, rows: readonly NewScore[]): Promise<number[]> {
  const inserted = await tx
    .insert(score)
    .values([...rows])
    // Nothing changes: a row that conflicts is only to be returned with the others. Of all columns one that no unique
    // index has: else the lock would be one that waits for every intent being written for the row.
    .onConflictDoUpdate({
      target: [score.chainId, score.wallet, score.inputsHash],
      set: { modelVersion: sql`excluded.model_version` },
    })
    .returning({ id: score.id });
  return inserted.map((row) => row.id);
}

/**
 * Makes scores the current ones of their wallets, unless a newer as-of block is there already; the wallets in `orphaned`
 * have a current score of a block that the chain no longer holds, which any score replaces.
 */
export async function makeCurrent(
  tx: NodePgDatabase,
  scoreIds: readonly number[],
  orphaned: readonly string[],
): Promise<void> {
  await tx.execute(sql`
    insert into ${currentScore} as held
      (chain_id, wallet, score_id, as_of_block, as_of_time, ahs_score, grade, confidence_micros, confidence_level, sanctioned, level_until)
    select chain_id, wallet, id, as_of_block, as_of_time, ahs_score, grade, confidence_micros, confidence_level, sanctioned,
      level_until
    from ${score} where id = any(${sql.param(scoreIds)}) order by wallet
    on conflict (chain_id, wallet) do update set
      score_id = excluded.score_id, as_of_block = excluded.as_of_block, as_of_time = excluded.as_of_time,
      ahs_score = excluded.ahs_score, grade = excluded.grade, confidence_micros = excluded.confidence_micros,
      confidence_level = excluded.confidence_level, sanctioned = excluded.sanctioned, level_until = excluded.level_until
    where excluded.as_of_block >= held.as_of_block or held.wallet = any(${sql.param(orphaned)})`);
}

/** The block that a wallet's current score speaks for; null without one. */
export async function readCurrentBlock(
  db: Database,
  { chainId, wallet }: { readonly chainId: number; readonly wallet: Address },
): Promise<number | null> {
  const [row] = await db
    .select({ block: currentScore.asOfBlock })
    .from(currentScore)
    .where(and(eq(currentScore.chainId, chainId), eq(currentScore.wallet, wallet)));
  return row?.block ?? null;
}

/** The stored score of a wallet that was computed from these inputs. */
export async function readScoreFrom(
  db: Database,
  of: { readonly chainId: number; readonly wallet: Address; readonly inputsHash: Hex },
): Promise<StoredScore | undefined> {
  const isOfWallet = and(eq(score.chainId, of.chainId), eq(score.wallet, of.wallet));
  const [row] = await db
    .select()
    .from(score)
    .where(and(isOfWallet, eq(score.inputsHash, of.inputsHash)));
  return row;
}
