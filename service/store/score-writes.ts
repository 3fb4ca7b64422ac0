import { and, desc, eq, inArray, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { InputFile } from "../features/inputs-hash.ts";
import type { Database } from "./database.ts";
import type { StoredScore } from "./scores.ts";
import { inputFile } from "./tables/epoch.ts";
import { currentScore, score } from "./tables/score.ts";

export type NewScore = typeof score.$inferInsert;

/** Keeps the files behind inputs hashes; one that is there stays as it is. */
export async function keepInputFiles(db: NodePgDatabase, files: readonly InputFile[]): Promise<void> {
  // In one order for every writer: two of them never wait for each other crosswise.
  const rows = files.toSorted((a, b) => (a.hash < b.hash ? -1 : 1));
  await db
    .insert(inputFile)
    .values(rows.map(({ hash, content }) => ({ hash, content })))
    .onConflictDoNothing();
}

/** Adds scores to the history and answers their ids; the same inputs scored twice are one row. */
export async function insertScores(tx: NodePgDatabase, rows: readonly NewScore[]): Promise<number[]> {
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
      (chain_id, wallet, score_id, as_of_block, as_of_time, ahs_score, grade, confidence_micros, confidence_level, sanctioned)
    select chain_id, wallet, id, as_of_block, as_of_time, ahs_score, grade, confidence_micros, confidence_level, sanctioned
    from ${score} where id = any(${sql.param(scoreIds)}) order by wallet
    on conflict (chain_id, wallet) do update set
      score_id = excluded.score_id, as_of_block = excluded.as_of_block, as_of_time = excluded.as_of_time,
      ahs_score = excluded.ahs_score, grade = excluded.grade, confidence_micros = excluded.confidence_micros,
      confidence_level = excluded.confidence_level, sanctioned = excluded.sanctioned
    where excluded.as_of_block >= held.as_of_block or held.wallet = any(${sql.param(orphaned)})`);
}

/** The stored scores of these wallets at exactly one as-of block, newest first. */
export async function readScoresAt(
  db: Database,
  at: { readonly chainId: number; readonly wallets: readonly string[]; readonly asOfHash: string },
): Promise<StoredScore[]> {
  return db
    .select()
    .from(score)
    .where(
      and(
        eq(score.chainId, at.chainId),
        inArray(score.wallet, [...at.wallets]),
        eq(score.asOfHash, at.asOfHash),
      ),
    )
    .orderBy(desc(score.id));
}

export type DueQuery = {
  readonly chainId: number;
  readonly asOfBlock: number;
  /** Unix seconds of the as-of block. */
  readonly asOfTime: number;
  /** Least seconds of chain time between two scores of one wallet. */
  readonly intervalSeconds: number;
};

/** Wallets without a score, and those that did something since theirs, which is old enough to be renewed. */
export async function readDueWallets(db: Database, due: DueQuery): Promise<string[]> {
  const { rows } = await db.$client.query<{ address: string }>(
    `select w.address from "chain_${due.chainId}".wallet w
     left join ahs.current_score c on c.chain_id = $1 and c.wallet = w.address
     where w.followed_block <= $2
       and (c.wallet is null or (w.touched_block > c.as_of_block and c.as_of_block < $2
            and extract(epoch from c.as_of_time) <= $3::float8 - $4::float8))
     order by w.address`,
    [due.chainId, due.asOfBlock, due.asOfTime, due.intervalSeconds],
  );
  return rows.map((row) => row.address);
}

/** Wallets whose current score is of a block that a reorg took out of the chain. */
export async function readOrphanedWallets(
  db: Database,
  chainId: number,
  finalizedBlock: number,
): Promise<string[]> {
  const { rows } = await db.$client.query<{ wallet: string }>(
    `select c.wallet from ahs.current_score c
     join ahs.score s on s.id = c.score_id
     join "chain_${chainId}".block b on b.number = c.as_of_block and b.hash <> s.as_of_hash
     where c.chain_id = $1 and c.as_of_block > $2`,
    [chainId, finalizedBlock],
  );
  return rows.map((row) => row.wallet);
}

/** Every followed wallet. */
export async function readFollowedWallets(db: Database, chainId: number): Promise<string[]> {
  const { rows } = await db.$client.query<{ address: string }>(
    `select address from "chain_${chainId}".wallet order by address`,
  );
  return rows.map((row) => row.address);
}
