import { and, eq, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { InputFile } from "../features/inputs-hash.ts";
import type { Database } from "./database.ts";
import type { StoredScore } from "./scores.ts";
import { inputFile } from "./tables/epoch.ts";
import { currentScore, score } from "./tables/score.ts";

export type NewScore = typeof score.$inferInsert;

/** Keeps the files behind inputs hashes; one that is there stays as it is. */
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

/** The stored score of a wallet that was computed from these inputs. */
export async function readScoreFrom(
  db: Database,
  of: { readonly chainId: number; readonly wallet: string; readonly inputsHash: string },
): Promise<StoredScore | undefined> {
  const [row] = await db
    .select()
    .from(score)
    .where(
      and(eq(score.chainId, of.chainId), eq(score.wallet, of.wallet), eq(score.inputsHash, of.inputsHash)),
    );
  return row;
}

export type DueQuery = {
  readonly chainId: number;
  readonly asOfBlock: number;
  /** Unix seconds of the as-of block. */
  readonly asOfTime: number;
  /** Least seconds of chain time between two scores of one wallet. */
  readonly intervalSeconds: number;
};

/**
 * Wallets to score again: followed ones without a score; those with an own call since theirs, which is old enough to be
 * renewed; and those whose confidence has fallen a level meanwhile. One whose counterparties are still being read up on
 * waits for that, but no longer than an hour of the chain's time after it met them; one whose past is still to be enriched
 * is left out.
 */
export async function readDueWallets(db: Database, due: DueQuery): Promise<string[]> {
  const { rows } = await db.$client.query<{ wallet: string }>(
    `with candidate as (
       select w.address as wallet from "chain_${due.chainId}".wallet w
       join ahs.enrich_wallet e on e.chain_id = $1 and e.wallet = w.address
         and e.past_next is null and e.from_block <= w.followed_block
       left join ahs.current_score c on c.chain_id = $1 and c.wallet = w.address
       where w.followed_block <= $2
         and (c.wallet is null or (c.as_of_block < $2
              and extract(epoch from c.as_of_time) <= $3::float8 - $4::float8
              and exists (select from ahs.own_call o where o.chain_id = $1 and o.wallet = w.address
                and o.block > c.as_of_block and o.block <= $2)))
       union
       select wallet from ahs.current_score
       where chain_id = $1 and as_of_block < $2 and level_until <= to_timestamp($3::float8)
     )
     select wallet from candidate
     where not exists (
       select from ahs.contact k
       where k.chain_id = $1 and k.account = candidate.wallet and k.first_time > $3::float8 - ${LONGEST_PENDING_SECONDS}
         and not exists (select from ahs.account_fact f where f.chain_id = $1 and f.address = k.counterparty))
     order by wallet`,
    [due.chainId, due.asOfBlock, due.asOfTime, due.intervalSeconds],
  );
  return rows.map((row) => row.wallet);
}

/** What a node does not tell of an account within an hour, it may never tell. */
const LONGEST_PENDING_SECONDS = 3_600;

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
