import type { Address, Hex } from "viem";
import type { IndexHead } from "../db/index-head.ts";
import type { currentScore, score } from "../db/tables/score.ts";
import { SECONDS_PER_DAY } from "../model/features/time.ts";
import type { SanctionsFlag } from "../model/features/types.ts";
import { shownConfidence } from "../model/score/shown-lines.ts";
import type { Threat } from "../sanctions/threat.ts";

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
export type FinalStatus = "known" | "unknown" | "no-block";

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

/** A stored score without what it was made of. */
export type ScorePoint = Pick<
  StoredScore,
  | "asOfBlock"
  | "asOfTime"
  | "modelVersion"
  | "ahsScore"
  | "d1Score"
  | "d2Score"
  | "grade"
  | "confidenceMicros"
  | "confidenceLevel"
  | "sanctioned"
  | "inputsHash"
>;

/** How a stored score was made; `inputsHash` names everything that it was computed from. */
export type ScoreReference = Pick<StoredScore, "modelVersion" | "inputsHash" | "features" | "patterns">;

/** Reads of scores; addresses are lower-case. */
export type ScoreReader = {
  snapshot(address: Address): Promise<WalletSnapshot>;
  atFinal(address: Address): Promise<FinalStatus>;
  published(address: Address): Promise<PublishedScore | null>;
  /** Newest first. */
  history(address: Address, limit: number): Promise<readonly StoredScore[]>;
  /** Of the scores as of `since` or later; insufficient ones count for nothing. */
  trend(address: Address, since: Date): Promise<ScoreTrend>;
  head(): Promise<IndexHead | null>;
};
