import { and, desc, eq } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { type Database, QUERY_DEADLINE } from "../db/database.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import { inputFile } from "../db/tables/publish.ts";
import { score } from "../db/tables/score.ts";
import { SECONDS_PER_DAY } from "../model/features/time.ts";
import type { SanctionsFlag } from "../model/features/types.ts";
import { MICRO } from "../model/score/fixed-point.ts";
import type { ConfidenceLevel, Grade } from "../model/score/record.ts";
import { FLAGS_COLUMNS, type FlagsRow, flagsOf, sanctionsFlagsJoin } from "../sanctions/sanctions.ts";

/** Returns the content of an input file by its hash (lower-case); undefined if it is not stored. */
export async function readInputFile(db: Database, hash: Hex): Promise<unknown> {
  const [row] = await db.select().from(inputFile).where(eq(inputFile.hash, hash));
  return row?.content;
}

/** A row of the score history. */
export type StoredScore = typeof score.$inferSelect;

/** The newest block that the index holds. */
export type IndexHead = { readonly blockNumber: number /** Unix seconds. */; readonly timestamp: number };

/** The part of a wallet's newest score that routing reads. */
export type CurrentScore = {
  /** Its row in the history. */
  readonly scoreId: number;
  readonly asOfBlock: number;
  readonly ahsScore: number | null;
  readonly grade: Grade | null;
  readonly confidenceMicros: number;
  readonly confidenceLevel: ConfidenceLevel;
  readonly asOfTime: Date;
};

/** What the database holds of a wallet, read in one statement. */
export type WalletSnapshot = {
  /** Null while the index holds no block. */
  readonly head: IndexHead | null;
  /** Of every source, as of the newest indexed block; empty when none. */
  readonly sanctions: readonly SanctionsFlag[];
  /** Null for a wallet never scored. */
  readonly score: CurrentScore | null;
  /** Whether the index follows the wallet. */
  readonly followed: boolean;
};

/** True if a score is of a moment more than 24 hours ago. */
export function isStale(asOfTime: Date, now: Date): boolean {
  return now.getTime() - asOfTime.getTime() > 1_000 * SECONDS_PER_DAY;
}

/**
 * The score that answers show. A listed wallet has score 0, grade F and confidence 1 as soon as it is listed, whatever its
 * stored score says. Confidence is a share of one.
 */
export function shownScore(
  score: CurrentScore | null,
  isListed: boolean,
): Pick<CurrentScore, "ahsScore" | "grade" | "confidenceLevel"> & { confidence: number } {
  if (isListed) return { ahsScore: 0, grade: "F", confidence: 1, confidenceLevel: "HIGH" };
  if (score === null) return { ahsScore: null, grade: null, confidence: 0, confidenceLevel: "INSUFFICIENT" };
  const { ahsScore, grade, confidenceMicros, confidenceLevel } = score;
  return { ahsScore, grade, confidence: confidenceMicros / MICRO, confidenceLevel };
}

/** What the oracle holds for a wallet by its indexed events. */
export type PublishedScore = {
  /** Null, as is nothing else, when the published record says insufficient. */
  readonly ahsScore: number | null;
  readonly asOfBlock: number;
  readonly transactionHash: Hex;
  readonly publishedAt: Date;
};

/** The stored scores of a period in three numbers. */
export type ScoreTrend = {
  readonly points: number;
  /** Points gained along the least-squares line from the first to the last; null without two distinct times. */
  readonly change: number | null;
};

/** Reads of scores and of the index; addresses are lower-case. */
export type ScoreReader = {
  standing(address: Address): Promise<WalletSnapshot>;
  published(address: Address): Promise<PublishedScore | null>;
  /** Newest first. */
  history(address: Address, limit: number): Promise<readonly StoredScore[]>;
  /** Of the scores as of `since` or later; insufficient ones count for nothing. */
  trend(address: Address, since: Date): Promise<ScoreTrend>;
  head(): Promise<IndexHead | null>;
};

/** Score reads on our tables and on the views of one chain's index. */
export function createScoreReader(db: Database, chainId: number): ScoreReader {
  const views = `"chain_${chainId}"`;
  const pool = db.$client;
  return {
    standing: snapshotLoader(db, chainId),
    async published(address) {
      const { rows } = await pool.query<PublishedRow>({
        ...QUERY_DEADLINE,
        name: "score_published",
        text: `select ahs_score, insufficient, as_of, transaction_hash, published_at
               from ${views}.oracle_score where wallet = $1 and present`,
        values: [address],
      });
      return rows[0] === undefined ? null : publishedOf(rows[0]);
    },
    async history(address, limit) {
      return db
        .select()
        .from(score)
        .where(and(eq(score.chainId, chainId), eq(score.wallet, address)))
        .orderBy(desc(score.asOfBlock), desc(score.id))
        .limit(limit);
    },
    async trend(address, since) {
      const { rows } = await pool.query<TrendRow>({
        ...QUERY_DEADLINE,
        name: "score_trend",
        text: TREND,
        values: [chainId, address, since],
      });
      return { points: Number(rows[0]?.points), change: rows[0]?.change ?? null };
    },
    async head() {
      const { rows } = await pool.query<HeadRow>({
        ...QUERY_DEADLINE,
        name: "index_head",
        text: newestBlock(views),
      });
      return rows[0] === undefined ? null : headOf(rows[0]);
    },
  };
}

/** One score per UTC day: the number of requests changes nothing, nor does a listing that was withdrawn. */
const TREND = `
  select count(*) as points,
         regr_slope(ahs_score, seconds) * (max(seconds) - min(seconds)) as change
  from (
    select distinct on (as_of_time::date) ahs_score, extract(epoch from as_of_time)::float8 as seconds
    from ahs.score
    where chain_id = $1 and wallet = $2 and as_of_time >= $3 and ahs_score is not null and not sanctioned
    order by as_of_time::date, as_of_block desc, id desc
  ) as scored`;

function newestBlock(views: string): string {
  return `select number as head_number, "timestamp" as head_timestamp
          from ${views}.block order by number desc limit 1`;
}

/** One statement for all requests that wait: routing must cost little more than a read by primary key. */
function snapshotLoader(db: Database, chainId: number): (address: Address) => Promise<WalletSnapshot> {
  const schema = `chain_${chainId}`;
  const views = `"${schema}"`;
  const statement = {
    name: "wallet_standing",
    text: `
      select wanted.address, head.*, followed.address is not null as followed, ${FLAGS_COLUMNS},
             current.score_id, current.as_of_block, current.ahs_score, current.grade, current.confidence_micros,
             current.confidence_level, current.as_of_time
      from unnest($1::text[]) as wanted (address)
      left join (${newestBlock(views)}) as head on true
      left join ahs.current_score as current on current.chain_id = $2 and current.wallet = wanted.address
      left join ${views}.wallet as followed on followed.address = wanted.address
      ${sanctionsFlagsJoin({ schema, address: "wanted.address", chainId: "$2" })}`,
  };
  return loadInBatches(
    async (addresses: readonly Address[]) => {
      const { rows } = await db.$client.query<SnapshotRow>({
        ...QUERY_DEADLINE,
        ...statement,
        values: [[...new Set(addresses)], chainId],
      });
      const found = new Map(rows.map((row) => [row.address, snapshotOf(row)]));
      return addresses.map((address) => {
        const snapshot = found.get(address);
        if (snapshot === undefined) throw new Error(`the statement returned no row for ${address}`);
        return snapshot;
      });
    },
    { maxSize: 500, maxRunning: 2 },
  );
}

// As node-postgres reads ponder.schema.ts and tables/score.ts; numeric and int8 arrive as text.
type HeadRow = { readonly head_number: string; readonly head_timestamp: string };
type NoHeadRow = { readonly head_number: null; readonly head_timestamp: null };
type CurrentScoreRow = {
  readonly score_id: string;
  readonly as_of_block: string;
  readonly ahs_score: number | null;
  readonly grade: Grade | null;
  readonly confidence_micros: number;
  readonly confidence_level: ConfidenceLevel;
  readonly as_of_time: Date;
};
type NoScoreRow = { readonly confidence_level: null };
type SnapshotRow = { readonly address: Address; readonly followed: boolean } & FlagsRow &
  (HeadRow | NoHeadRow) &
  (CurrentScoreRow | NoScoreRow);
type PublishedRow = {
  readonly ahs_score: number;
  readonly insufficient: boolean;
  readonly as_of: string;
  readonly transaction_hash: Hex;
  readonly published_at: string;
};
type TrendRow = { readonly points: string; readonly change: number | null };

function snapshotOf(row: SnapshotRow): WalletSnapshot {
  return {
    head: row.head_number === null ? null : headOf(row),
    sanctions: flagsOf(row),
    score: row.confidence_level === null ? null : currentScoreOf(row),
    followed: row.followed,
  };
}

function headOf(row: HeadRow): IndexHead {
  return { blockNumber: Number(row.head_number), timestamp: Number(row.head_timestamp) };
}

function currentScoreOf(row: CurrentScoreRow): CurrentScore {
  return {
    scoreId: Number(row.score_id),
    asOfBlock: Number(row.as_of_block),
    ahsScore: row.ahs_score,
    grade: row.grade,
    confidenceMicros: row.confidence_micros,
    confidenceLevel: row.confidence_level,
    asOfTime: row.as_of_time,
  };
}

function publishedOf(row: PublishedRow): PublishedScore {
  return {
    ahsScore: row.insufficient ? null : row.ahs_score,
    asOfBlock: Number(row.as_of),
    transactionHash: row.transaction_hash,
    publishedAt: new Date(Number(row.published_at) * 1000),
  };
}

/** The newest stored score of one UTC day. */
export type DayScore = {
  readonly asOfTime: Date;
  /** Null where there was too little history, as is the grade. */
  readonly ahsScore: number | null;
  readonly grade: Grade | null;
};

type DayRow = { readonly as_of_time: Date; readonly ahs_score: number | null; readonly grade: Grade | null };

/** Reads the newest score of each of the last so many days that have one, oldest first; the wallet is lower-case. */
export function createDailyScores(
  db: Database,
  { chainId, days }: { readonly chainId: number; readonly days: number },
): (wallet: Address) => Promise<readonly DayScore[]> {
  return async (wallet) => {
    const { rows } = await db.$client.query<DayRow>({
      ...QUERY_DEADLINE,
      name: "daily_scores",
      text: `
        select * from (
          select distinct on (day) as_of_time, ahs_score, grade
          from (
            select as_of_time, ahs_score, grade, as_of_block, id, (as_of_time at time zone 'UTC')::date as day
            from ahs.score where chain_id = $1 and wallet = $2
          ) as scored
          order by day desc, as_of_block desc, id desc
          limit $3
        ) as daily
        order by as_of_time`,
      values: [chainId, wallet, days],
    });
    return rows.map((row) => ({ asOfTime: row.as_of_time, ahsScore: row.ahs_score, grade: row.grade }));
  };
}

/** What a stored score says of how it was made. */
export type ScoreReference = {
  readonly modelVersion: string;
  /** keccak256 that names everything it was computed from. */
  readonly inputsHash: string;
};

/** Reads how a score of the history was made, by its row's id; null where there is no such row. */
export async function readScoreReference(db: Database, scoreId: number): Promise<ScoreReference | null> {
  const { rows } = await db.$client.query<{ model_version: string; inputs_hash: string }>({
    ...QUERY_DEADLINE,
    name: "score_reference",
    text: "select model_version, inputs_hash from ahs.score where id = $1",
    values: [scoreId],
  });
  const [row] = rows;
  return row === undefined ? null : { modelVersion: row.model_version, inputsHash: row.inputs_hash };
}
