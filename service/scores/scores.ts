import { and, desc, eq } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { modelVersionCode } from "../chain/oracle-codec.ts";
import { type Database, rowsInTime, underDeadline } from "../db/database.ts";
import { type IndexHead, newestBlock, readIndexHead } from "../db/index-snapshot.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import { inputFile } from "../db/tables/publish.ts";
import { type currentScore, score } from "../db/tables/score.ts";
import { asOfSql } from "../ingest/read-as-of.ts";
import { SECONDS_PER_DAY } from "../model/features/time.ts";
import type { SanctionsFlag } from "../model/features/types.ts";
import { shownConfidence } from "../model/score/shown-lines.ts";
import { FLAGS_COLUMNS, type FlagsRow, flagsOf, sanctionsFlagsJoin } from "../sanctions/sanctions.ts";
import { type Threat, threatsJoin } from "../sanctions/threats.ts";

/** Returns the content of an input file by its hash (lower-case); undefined if it is not stored. */
export async function readInputFile(db: Database, hash: Hex): Promise<unknown> {
  const [row] = await db.select().from(inputFile).where(eq(inputFile.hash, hash));
  return row?.content;
}

/** A row of the score history. */
export type StoredScore = typeof score.$inferSelect;

/** The part of a wallet's newest score that routing reads; `scoreId` is its row in the history. */
export type CurrentScore = Pick<
  typeof currentScore.$inferSelect,
  "scoreId" | "asOfBlock" | "ahsScore" | "grade" | "confidenceMicros" | "confidenceLevel" | "asOfTime"
>;

/** A wallet's facts in the database, read in one statement. */
export type WalletSnapshot = {
  /** Null while the index holds no block. */
  readonly head: IndexHead | null;
  /** Of every source, as of the newest indexed block; empty when none. */
  readonly sanctions: readonly SanctionsFlag[];
  /** Lists of threats that it is on; they change no score. */
  readonly threats: readonly Threat[];
  /** Null for a wallet never scored. */
  readonly score: CurrentScore | null;
  /** Whether the index follows the wallet. */
  readonly followed: boolean;
};

/** Whether a wallet is known at the newest finalized and enriched block, at which scores and reports are made; no-block without one. */
export type FinalStanding = "known" | "unknown" | "no-block";

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
  return { ahsScore, grade, confidence: shownConfidence(confidenceMicros), confidenceLevel };
}

/** The oracle's record of a wallet, by its indexed events. */
export type PublishedScore = {
  /** Null, as is nothing else, when the published record says insufficient. */
  readonly ahsScore: number | null;
  /** Millionths of a US dollar, as the oracle rounded them down; null for a record of a model without safe amounts. */
  readonly safeMicroUsd: bigint | null;
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

export type ScoreReader = ReturnType<typeof createScoreReader>;

/** Reads of scores on our tables and on the views of one chain's index; addresses are lower-case. */
export function createScoreReader(db: Database, chainId: number) {
  return {
    standing: snapshotLoader(db, chainId),
    atFinal: finalLoader(db, chainId),
    async published(address: Address): Promise<PublishedScore | null> {
      const [row] = await rowsInTime<PublishedRow>(db, {
        name: "score_published",
        text: `select case when not insufficient then ahs_score end as "ahsScore", as_of::float8 as "asOfBlock",
                 case when model_version >= $2 or safe_micro_usd > 0 then safe_micro_usd::text end as "safeAmount",
                 transaction_hash as "transactionHash", published_at::float8 as "publishedAt"
               from "chain_${chainId}".oracle_score where wallet = $1 and present`,
        values: [address, modelVersionCode(FIRST_BACKED_MODEL)],
      });
      return row === undefined ? null : publishedOf(row);
    },
    /** Newest first. */
    async history(address: Address, limit: number): Promise<readonly StoredScore[]> {
      return db
        .select()
        .from(score)
        .where(and(eq(score.chainId, chainId), eq(score.wallet, address)))
        .orderBy(desc(score.asOfBlock), desc(score.id))
        .limit(limit);
    },
    /** Of the scores as of `since` or later; insufficient ones count for nothing. */
    async trend(address: Address, since: Date): Promise<ScoreTrend> {
      const values = [chainId, address, since];
      const text = trendQuery({ wallet: "$2", since: "$3" });
      const [trend] = await rowsInTime<ScoreTrend>(db, { name: "score_trend", text, values });
      return trend ?? { points: 0, change: null };
    },
    head: () => readIndexHead(db, chainId),
  };
}

/** The first model with safe amounts. Records of earlier ones have zero in their place. */
const FIRST_BACKED_MODEL = "AHS-2026.2";

type PublishedRow = Pick<PublishedScore, "ahsScore" | "asOfBlock" | "transactionHash"> & {
  readonly safeAmount: string | null;
  /** Unix seconds. */
  readonly publishedAt: number;
};

function publishedOf({ safeAmount, publishedAt, ...row }: PublishedRow): PublishedScore {
  const safeMicroUsd = safeAmount === null ? null : BigInt(safeAmount);
  return { ...row, safeMicroUsd, publishedAt: new Date(publishedAt * 1000) };
}

/**
 * SQL of a `ScoreTrend` on the chain $1; wallet and time are expressions. It counts one score per UTC day: the number of requests
 * changes nothing, nor does a listing that was withdrawn.
 */
export function trendQuery({ wallet, since }: { readonly wallet: string; readonly since: string }): string {
  return `
  select count(*)::float8 as points,
         regr_slope(ahs_score, seconds) * (max(seconds) - min(seconds)) as change
  from (
    select distinct on (as_of_time::date) ahs_score, extract(epoch from as_of_time)::float8 as seconds
    from ahs.score
    where chain_id = $1 and wallet = ${wallet} and as_of_time >= ${since} and ahs_score is not null and not sanctioned
    order by as_of_time::date, as_of_block desc, id desc
  ) as scored`;
}

/** One statement for all requests that wait: routing must cost little more than a read by primary key. */
function snapshotLoader(db: Database, chainId: number): (address: Address) => Promise<WalletSnapshot> {
  const schema = `chain_${chainId}`;
  const statement = {
    name: "wallet_standing",
    text: `
      select wanted.address, head.*, followed.address is not null as followed, ${FLAGS_COLUMNS}, threat.threats,
             current.score_id::float8 as "scoreId", current.as_of_block::float8 as "asOfBlock",
             current.ahs_score as "ahsScore", current.grade, current.confidence_micros as "confidenceMicros",
             current.confidence_level as "confidenceLevel", current.as_of_time as "asOfTime"
      from unnest($1::text[]) as wanted (address)
      left join (${newestBlock(chainId)}) as head on true
      left join ahs.current_score as current on current.chain_id = $2 and current.wallet = wanted.address
      left join "${schema}".wallet as followed on followed.address = wanted.address
      ${sanctionsFlagsJoin({ schema, address: "wanted.address", chainId: "$2" })}
      ${threatsJoin("wanted.address")}`,
  };
  return loadInBatches(
    async (addresses: readonly Address[]) => {
      const values = [[...new Set(addresses)], chainId];
      const rows = await rowsInTime<SnapshotRow>(db, { ...statement, values });
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

function finalLoader(db: Database, chainId: number): (address: Address) => Promise<FinalStanding> {
  const schema = `chain_${chainId}`;
  const statement = {
    name: "wallet_at_final",
    text: `
      select wanted.address, case
        when as_of.number is null then 'no-block'
        when followed.followed_block <= as_of.number or kept.from_block <= as_of.number then 'known'
        else 'unknown' end as standing
      from unnest($2::text[]) as wanted (address)
      left join (${asOfSql(schema)}) as as_of (number, hash, timestamp) on true
      left join "${schema}".wallet as followed on followed.address = wanted.address
      left join ahs.kept_history as kept on kept.chain_id = $1 and kept.wallet = wanted.address`,
  };
  return loadInBatches(
    async (addresses: readonly Address[]) => {
      const values = [chainId, [...new Set(addresses)]];
      const rows = await rowsInTime<{ readonly address: Address; readonly standing: FinalStanding }>(db, {
        ...statement,
        values,
      });
      const found = new Map(rows.map(({ address, standing }) => [address, standing]));
      return addresses.map((address) => found.get(address) ?? "no-block");
    },
    { maxSize: 500, maxRunning: 2 },
  );
}

type SnapshotRow = {
  readonly address: Address;
  readonly followed: boolean;
  readonly threats: readonly Threat[] | null;
} & FlagsRow &
  (IndexHead | { readonly blockNumber: null }) &
  (CurrentScore | { readonly scoreId: null });

function snapshotOf(row: SnapshotRow): WalletSnapshot {
  return {
    head: row.blockNumber === null ? null : { blockNumber: row.blockNumber, timestamp: row.timestamp },
    sanctions: flagsOf(row),
    threats: row.threats ?? [],
    score: row.scoreId === null ? null : currentScoreOf(row),
    followed: row.followed,
  };
}

/** Without the other columns of the row. */
function currentScoreOf(row: CurrentScore): CurrentScore {
  const { scoreId, asOfBlock, ahsScore, grade, confidenceMicros, confidenceLevel, asOfTime } = row;
  return { scoreId, asOfBlock, ahsScore, grade, confidenceMicros, confidenceLevel, asOfTime };
}

/** How a stored score was made; `inputsHash` names everything that it was computed from. */
export type ScoreReference = Pick<StoredScore, "modelVersion" | "inputsHash" | "features" | "patterns">;

/** Reads how a score of the history was made, by its row's id; null where there is no such row. */
export async function readScoreReference(db: Database, scoreId: number): Promise<ScoreReference | null> {
  const [row] = await underDeadline(db)
    .select({
      modelVersion: score.modelVersion,
      inputsHash: score.inputsHash,
      features: score.features,
      patterns: score.patterns,
    })
    .from(score)
    .where(eq(score.id, scoreId));
  return row ?? null;
}
