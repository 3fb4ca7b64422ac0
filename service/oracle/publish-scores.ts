import { and, asc, eq, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { gradeFloors } from "../chain/oracle-codec.ts";
import { isOneOf } from "../db/columns.ts";
import { viewOf } from "../db/index-snapshot.ts";
import { walletBacking } from "../db/tables/backing.ts";
import { currentScore, score, walletInterest } from "../db/tables/score.ts";
import { safeAmountOf } from "../model/backing/cost-basis.ts";
import { sanctionsListSql } from "../sanctions/sanctions.ts";
import type { PublishPolicy } from "./publish-policy.ts";
import { readIndexedBlock } from "./publish-records.ts";

/** The moments from which on heartbeats and interest count. */
export function reviewQuery(chainId: number, now: Date, policy: PublishPolicy): ReviewQuery {
  return {
    chainId,
    movePoints: policy.movePoints,
    safeAmount: policy.safeAmount,
    gradeFloors: gradeFloors.map(([, floor]) => floor).toSorted((a, b) => a - b),
    heartbeatBefore: new Date(now.getTime() - policy.heartbeatMs),
    interestAfter: new Date(now.getTime() - policy.interestMs),
  };
}

/** The columns of a score that go on chain. */
export const scoreColumns = {
  id: score.id,
  wallet: score.wallet,
  asOfBlock: score.asOfBlock,
  asOfTime: score.asOfTime,
  modelVersion: score.modelVersion,
  ahsScore: score.ahsScore,
  d1Score: score.d1Score,
  d2Score: score.d2Score,
  confidenceMicros: score.confidenceMicros,
  sanctioned: score.sanctioned,
};

/** All three scores are null for a wallet without enough history. */
export type ScoreRow = Pick<typeof score.$inferSelect, keyof typeof scoreColumns>;

/** Those of the score rows that are the current score of their wallet, by wallet. */
export async function readCurrentScoreRows(db: NodePgDatabase, ids: readonly number[]): Promise<ScoreRow[]> {
  // By its key as well: a score's id alone has no index there.
  const isCurrent = and(
    eq(currentScore.chainId, score.chainId),
    eq(currentScore.wallet, score.wallet),
    eq(currentScore.scoreId, score.id),
  );
  return db
    .select(scoreColumns)
    .from(score)
    .innerJoin(currentScore, isCurrent)
    .where(isOneOf(score.id, ids))
    .orderBy(asc(score.wallet));
}

/** A score and the safe amount to publish with it, in millionths of a US dollar. */
export type BackedScore = { readonly score: ScoreRow; readonly safeMicroUsd: bigint };

/** The newest score of every wallet. */
export async function readPopulation(db: NodePgDatabase, chainId: number): Promise<BackedScore[]> {
  const isOfWallet = and(
    eq(walletBacking.chainId, currentScore.chainId),
    eq(walletBacking.wallet, currentScore.wallet),
  );
  const rows = await db
    .select({ score: scoreColumns, safeMicroUsd: walletBacking.safeMicroUsd })
    .from(currentScore)
    .innerJoin(score, eq(score.id, currentScore.scoreId))
    .leftJoin(walletBacking, isOfWallet)
    .where(eq(currentScore.chainId, chainId))
    .orderBy(asc(currentScore.wallet));
  return rows.map(({ score, safeMicroUsd }) => withBacking(score, safeMicroUsd));
}

/** Safe amounts of those of the wallets that have any backing, in millionths of a US dollar. */
export async function readSafeAmounts(
  db: NodePgDatabase,
  chainId: number,
  wallets: readonly string[],
): Promise<Map<string, bigint>> {
  const { wallet, safeMicroUsd } = walletBacking;
  const rows = await db
    .select({ wallet, safeMicroUsd })
    .from(walletBacking)
    .where(and(eq(walletBacking.chainId, chainId), isOneOf(wallet, wallets)));
  return new Map(rows.map((row) => [row.wallet, row.safeMicroUsd]));
}

/** A score with its safe amount to publish: zero where unknown or sanctioned. */
export function withBacking(score: ScoreRow, safeMicroUsd: bigint | null | undefined): BackedScore {
  return {
    score,
    safeMicroUsd: safeAmountOf({ safeMicroUsd: safeMicroUsd ?? 0n, sanctioned: score.sanctioned }),
  };
}

/** Time of the last interest in each wallet; wallets without any have no entry. */
export async function readInterest(
  db: NodePgDatabase,
  chainId: number,
  wallets: readonly string[],
): Promise<Map<string, Date>> {
  const rows = await db
    .select({ wallet: walletInterest.wallet, lastAt: walletInterest.lastAt })
    .from(walletInterest)
    .where(and(eq(walletInterest.chainId, chainId), isOneOf(walletInterest.wallet, wallets)));
  return new Map(rows.map((row) => [row.wallet, row.lastAt]));
}

type ReviewQuery = {
  readonly chainId: number;
  readonly movePoints: number;
  readonly safeAmount: PublishPolicy["safeAmount"];
  /** Lowest scores of the grades, ascending. */
  readonly gradeFloors: readonly number[];
  /** Records with an older as-of time are due for a heartbeat, where interest is newer than `interestAfter`. */
  readonly heartbeatBefore: Date;
  readonly interestAfter: Date;
};

/**
 * Newest scores that may differ from what the oracle's events show enough to be published, and have no intent pending or
 * under way: a coarse filter, for the plan to decide.
 */
export async function readScoresToReview(db: NodePgDatabase, query: ReviewQuery): Promise<number[]> {
  const { rows } = await db.execute<{ score_id: string }>(sql`
    select c.score_id from ahs.current_score c
    left join ${viewOf(query.chainId, "oracle_score")} o on o.wallet = c.wallet
    left join ahs.wallet_interest i on i.chain_id = c.chain_id and i.wallet = c.wallet
    left join ahs.wallet_backing b on b.chain_id = c.chain_id and b.wallet = c.wallet
    where c.chain_id = ${query.chainId}
      and (o.wallet is null or c.as_of_block > o.as_of)
      and (${differs(query)})
      and not exists (
        select 1 from ahs.publish_intent p
        where p.chain_id = c.chain_id and p.wallet = c.wallet and p.state in ('pending', 'sent'))
    order by c.wallet`);
  return rows.map((row) => Number(row.score_id));
}

/**
 * Wallets whose newest score cannot be published because the oracle's record is as new, though it differs or is due for a
 * heartbeat: to be scored at a finalized block. Another flag is left to `findChangedFlags`. None while there is no index.
 */
export async function findOvertakenScores(
  db: NodePgDatabase,
  of: { readonly chainId: number; readonly now: Date; readonly policy: PublishPolicy },
): Promise<readonly string[]> {
  if ((await readIndexedBlock(db, of.chainId)) === null) return [];
  const query = reviewQuery(of.chainId, of.now, of.policy);
  const { rows } = await db.execute<{ wallet: string }>(sql`
    select c.wallet from ahs.current_score c
    join ${viewOf(query.chainId, "oracle_score")} o on o.wallet = c.wallet
    left join ahs.wallet_interest i on i.chain_id = c.chain_id and i.wallet = c.wallet
    left join ahs.wallet_backing b on b.chain_id = c.chain_id and b.wallet = c.wallet
    where c.chain_id = ${query.chainId} and c.as_of_block <= o.as_of and (${differs(query)})
      and (not o.present or o.sanctioned = c.sanctioned)
    order by c.wallet`);
  return rows.map((row) => row.wallet);
}

/**
 * Wallets whose newest score disagrees with the sanctions lists at the newest indexed block, in whether the wallet is listed
 * or in which of them list it, or with the flag that the oracle holds for a block at which the score cannot be published:
 * one as new, or newer. They are to be scored at the newest indexed block, at once. None while there is no index.
 */
export async function findChangedFlags(db: NodePgDatabase, chainId: number): Promise<readonly string[]> {
  if ((await readIndexedBlock(db, chainId)) === null) return [];
  const list = sanctionsListSql({ schema: `chain_${chainId}`, chainId: String(chainId), asOfBlock: null });
  const { rows } = await db.execute<{ wallet: string }>(sql`
    select c.wallet from ahs.current_score c
    left join (
      select address, array_agg(source order by source) as sources from ${sql.raw(list)} group by address
    ) s on s.address = c.wallet
    left join ahs.score held on c.sanctioned and held.id = c.score_id
    left join ${viewOf(chainId, "oracle_score")} o on o.wallet = c.wallet and o.present
    where c.chain_id = ${chainId}
      -- A listing that a reorg took out leaves no event behind.
      and (c.sanctioned <> (s.address is not null)
        or c.sanctioned and s.sources <> array(
          select flag ->> 'source' from jsonb_array_elements(held.sanctions_flags) as flag order by 1)
        or c.sanctioned <> o.sanctioned and c.as_of_block <= o.as_of)
    order by c.wallet`);
  return rows.map((row) => row.wallet);
}

function differs(query: ReviewQuery) {
  const floors = sql`${sql.param(query.gradeFloors)}::int[]`;
  const safe = sql`(case when c.sanctioned then 0 else coalesce(b.safe_micro_usd, 0) end)`;
  const { fallFactor, riseFactor, leastRiseMicroUsd } = query.safeAmount;
  return sql`
    (o.wallet is null or not o.present) and c.ahs_score is not null
    or o.present and (
      o.sanctioned <> c.sanctioned
      or o.insufficient <> (c.ahs_score is null)
      or abs(o.ahs_score - c.ahs_score) >= ${query.movePoints}
      or not o.insufficient and width_bucket(o.ahs_score, ${floors}) <> width_bucket(c.ahs_score, ${floors})
      or ${safe} * ${fallFactor} < o.safe_micro_usd
      or ${safe} >= ${leastRiseMicroUsd} and ${safe} > o.safe_micro_usd * ${riseFactor}
      or o.as_of_time < ${Math.floor(query.heartbeatBefore.getTime() / 1000)} and i.last_at >= ${query.interestAfter})`;
}
