import { and, desc, eq, sql } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { modelVersionCode } from "../chain/oracle-codec.ts";
import { type Database, rowsInTime, underDeadline } from "../db/database.ts";
import type { IndexHead } from "../db/index-head.ts";
import { readIndexHead } from "../db/index-snapshot.ts";
import { indexOf, numberOf } from "../db/index-tables.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import { inputFile } from "../db/tables/publish.ts";
import { score } from "../db/tables/score.ts";
import { type FlagsRow, flagsOf } from "../sanctions/sanctions.ts";
import type { Threat } from "../sanctions/threat.ts";
import { knownAtFinal, scoreTrend, walletSnapshots } from "./scores.sql.ts";
import type {
  CurrentScore,
  FinalStatus,
  PublishedScore,
  ScoreReader,
  ScoreReference,
  ScoreTrend,
  StoredScore,
  WalletSnapshot,
} from "./stored-score.ts";

/** Returns the content of an input file by its hash (lower-case); undefined if it is not stored. */
export async function readInputFile(db: Database, hash: Hex): Promise<unknown> {
  const [row] = await db.select().from(inputFile).where(eq(inputFile.hash, hash));
  return row?.content;
}

/** Reads of scores on our tables and on the views of one chain's index; addresses are lower-case. */
export function createScoreReader(db: Database, chainId: number): ScoreReader {
  const { oracleScore: record } = indexOf(chainId);
  const publishedRecord = underDeadline(db)
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
    .where(and(eq(record.wallet, sql.placeholder("address")), record.present))
    .prepare(`score_published_${chainId}`);
  return {
    snapshot: snapshotLoader(db, chainId),
    atFinal: finalLoader(db, chainId),
    async published(address: Address): Promise<PublishedScore | null> {
      const [row] = await publishedRecord.execute({ address });
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

function finalLoader(db: Database, chainId: number): (address: Address) => Promise<FinalStatus> {
  return loadInBatches(
    async (addresses: readonly Address[]) => {
      const rows = await rowsInTime<{ readonly address: Address; readonly status: FinalStatus }>(
        db,
        knownAtFinal(chainId, { addresses: [...new Set(addresses)] }),
      );
      const found = new Map(rows.map(({ address, status }) => [address, status]));
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
