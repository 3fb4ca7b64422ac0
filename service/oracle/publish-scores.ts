import { and, asc, eq, inArray, not, notExists, or, type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { gradeFloors } from "../chain/oracle-codec.ts";
import { isOneOf } from "../db/columns.ts";
import { indexOf } from "../db/index-tables.ts";
import { walletBacking } from "../db/tables/backing.ts";
import { publishIntent } from "../db/tables/publish.ts";
import { currentScore, score, walletInterest } from "../db/tables/score.ts";
import { safeAmountOf } from "../model/backing/cost-basis.ts";
import { sanctionsListSql } from "../sanctions/sanctions.sql.ts";
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
  const { oracleScore } = indexOf(query.chainId);
  const isUnderWay = db
    .select({ id: publishIntent.id })
    .from(publishIntent)
    .where(
      and(
        eq(publishIntent.chainId, currentScore.chainId),
        eq(publishIntent.wallet, currentScore.wallet),
        inArray(publishIntent.state, ["pending", "sent"]),
      ),
    );
  const rows = await compared(db, query).where(
    and(
      eq(currentScore.chainId, query.chainId),
      sql`(${oracleScore.wallet} is null or ${currentScore.asOfBlock} > ${oracleScore.asOf})`,
      differs(query),
      notExists(isUnderWay),
    ),
  );
  return rows.map(({ scoreId }) => scoreId);
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
  const { oracleScore } = indexOf(of.chainId);
  const rows = await compared(db, query).where(
    and(
      eq(currentScore.chainId, of.chainId),
      sql`${currentScore.asOfBlock} <= ${oracleScore.asOf}`,
      differs(query),
      or(not(oracleScore.present), eq(oracleScore.sanctioned, currentScore.sanctioned)),
    ),
  );
  return rows.map(({ wallet }) => wallet);
}

/** Newest scores by wallet beside what the oracle's events show, the wallet's interest and its backing. */
function compared(db: NodePgDatabase, { chainId }: ReviewQuery) {
  const { oracleScore } = indexOf(chainId);
  const { wallet, scoreId } = currentScore;
  const isOf = (table: typeof walletInterest | typeof walletBacking) =>
    and(eq(table.chainId, currentScore.chainId), eq(table.wallet, wallet));
  return db
    .select({ wallet, scoreId })
    .from(currentScore)
    .leftJoin(oracleScore, eq(oracleScore.wallet, wallet))
    .leftJoin(walletInterest, isOf(walletInterest))
    .leftJoin(walletBacking, isOf(walletBacking))
    .orderBy(asc(wallet))
    .$dynamic();
}

/**
 * Wallets whose newest score disagrees with the sanctions lists at the newest indexed block, in whether the wallet is listed
 * or in which of them list it, or with the flag that the oracle holds for a block at which the score cannot be published:
 * one as new, or newer. They are to be scored at the newest indexed block, at once. None while there is no index.
 */
export async function findChangedFlags(db: NodePgDatabase, chainId: number): Promise<readonly string[]> {
  if ((await readIndexedBlock(db, chainId)) === null) return [];
  const { oracleScore } = indexOf(chainId);
  const listed = db
    .select({
      address: sql<string>`address`.as("listed_address"),
      sources: sql<string[]>`array_agg(source order by source)`.as("sources"),
    })
    .from(sanctionsListSql(chainId, null))
    .groupBy(sql`address`)
    .as("listed");
  const isRecord = and(eq(oracleScore.wallet, currentScore.wallet), eq(oracleScore.present, true));
  const flagged = sql`array(
    select flag ->> 'source' from jsonb_array_elements(${score.sanctionsFlags}) as flag order by 1)`;
  const { sanctioned, asOfBlock } = currentScore;
  const rows = await db
    .select({ wallet: currentScore.wallet })
    .from(currentScore)
    .leftJoin(listed, eq(listed.address, currentScore.wallet))
    .leftJoin(score, and(eq(currentScore.sanctioned, true), eq(score.id, currentScore.scoreId)))
    .leftJoin(oracleScore, isRecord)
    .where(
      and(
        eq(currentScore.chainId, chainId),
        // A listing that a reorg took out leaves no event behind.
        or(
          sql`${sanctioned} <> (${listed.address} is not null)`,
          sql`${sanctioned} and ${listed.sources} <> ${flagged}`,
          sql`${sanctioned} <> ${oracleScore.sanctioned} and ${asOfBlock} <= ${oracleScore.asOf}`,
        ),
      ),
    )
    .orderBy(asc(currentScore.wallet));
  return rows.map(({ wallet }) => wallet);
}

function differs(query: ReviewQuery): SQL {
  const o = indexOf(query.chainId).oracleScore;
  const { sanctioned, ahsScore } = currentScore;
  const floors = sql`${sql.param(query.gradeFloors)}::int[]`;
  const safe = sql`(case when ${sanctioned} then 0 else coalesce(${walletBacking.safeMicroUsd}, 0) end)`;
  const { fallFactor, riseFactor, leastRiseMicroUsd } = query.safeAmount;
  const heartbeat = Math.floor(query.heartbeatBefore.getTime() / 1000);
  return sql`(
    (${o.wallet} is null or not ${o.present}) and ${ahsScore} is not null
    or ${o.present} and (
      ${o.sanctioned} <> ${sanctioned}
      or ${o.insufficient} <> (${ahsScore} is null)
      or abs(${o.ahsScore} - ${ahsScore}) >= ${query.movePoints}
      or not ${o.insufficient} and width_bucket(${o.ahsScore}, ${floors}) <> width_bucket(${ahsScore}, ${floors})
      or ${safe} * ${fallFactor} < ${o.safeMicroUsd}
      or ${safe} >= ${leastRiseMicroUsd} and ${safe} > ${o.safeMicroUsd} * ${riseFactor}
      or ${o.asOfTime} < ${heartbeat} and ${walletInterest.lastAt} >= ${query.interestAfter}))`;
}
