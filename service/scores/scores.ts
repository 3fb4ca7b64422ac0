import { and, desc, eq } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { modelVersionCode } from "../chain/oracle-codec.ts";
import { type Database, rowsInTime, underDeadline } from "../db/database.ts";
import { type IndexHead, readIndexHead } from "../db/index-snapshot.ts";
import { indexOf, numberOf } from "../db/index-tables.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import { inputFile } from "../db/tables/publish.ts";
import { type currentScore, score } from "../db/tables/score.ts";
import { SECONDS_PER_DAY } from "../model/features/time.ts";
import type { SanctionsFlag } from "../model/features/types.ts";
import { shownConfidence } from "../model/score/shown-lines.ts";
import { type FlagsRow, flagsOf } from "../sanctions/sanctions.ts";
import type { Threat } from "../sanctions/threats.ts";
import { knownAtFinal, scoreTrend, walletSnapshots } from "./scores.sql.ts";

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
      const { oracleScore: record } = indexOf(chainId);
      const [row] = await underDeadline(db)
        .select({
          ahsScore: record.ahsScore,
          asOfBlock: numberOf(record.asOf),
          safeMicroUsd: record.safeMicroUsd,
          transactionHash: record.transactionHash,
          publishedAt: numberOf(record.publishedAt),
          insufficient: record.insufficient,
          modelVersion: record.modelVersion,
        })
        .from(record)
        .where(and(eq(record.wallet, address), eq(record.present, true)));
      if (row === undefined) return null;
      const { insufficient, modelVersion, publishedAt, ...published } = row;
      const isBacked = modelVersion >= FIRST_BACKED_CODE || published.safeMicroUsd > 0n;
      return {
        ...published,
        ahsScore: insufficient ? null : published.ahsScore,
        safeMicroUsd: isBacked ? published.safeMicroUsd : null,
        publishedAt: new Date(publishedAt * 1000),
      };
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
      const [trend] = await rowsInTime<ScoreTrend>(db, scoreTrend({ chainId, address, since }));
      return trend ?? { points: 0, change: null };
    },
    head: () => readIndexHead(db, chainId),
  };
}

/** The first model with safe amounts. Records of earlier ones have zero in their place. */
const FIRST_BACKED_CODE = modelVersionCode("AHS-2026.2");

/** One statement for all requests that wait: routing must cost little more than a read by primary key. */
function snapshotLoader(db: Database, chainId: number): (address: Address) => Promise<WalletSnapshot> {
  return loadInBatches(
    async (addresses: readonly Address[]) => {
      const rows = await rowsInTime<SnapshotRow>(
        db,
        walletSnapshots(chainId, { addresses: [...new Set(addresses)] }),
      );
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
  return loadInBatches(
    async (addresses: readonly Address[]) => {
      const rows = await rowsInTime<{ readonly address: Address; readonly standing: FinalStanding }>(
        db,
        knownAtFinal(chainId, { addresses: [...new Set(addresses)] }),
      );
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
