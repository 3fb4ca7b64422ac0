import { and, eq } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { isOneOf } from "../db/is-one-of.ts";
import type { AlertThresholds } from "../db/tables/alerts.ts";
import { currentScore, score } from "../db/tables/score.ts";
import type { SanctionsFlag } from "../model/features/types.ts";
import type { ConfidenceLevel, Grade } from "../model/score/record.ts";

/** The values of a score that can have a threshold; null where they are unknown. */
export type WatchedValues = Readonly<Record<keyof AlertThresholds, number | null>>;

/** The current score of a wallet, as far as somebody is told of it. */
export type ToldScore = WatchedValues & {
  readonly scoreId: number;
  /** Null for a record without enough history, as are the scores. */
  readonly grade: Grade | null;
  readonly confidenceMicros: number;
  readonly confidenceLevel: ConfidenceLevel;
  readonly sanctioned: boolean;
  readonly sanctionsFlags: readonly SanctionsFlag[];
  readonly asOfBlock: number;
  readonly asOfTime: Date;
  readonly inputsHash: string;
};

/** The current scores of those wallets that have one. */
export async function readToldScores(
  tx: NodePgDatabase,
  of: { readonly chainId: number; readonly wallets: readonly string[] },
): Promise<ReadonlyMap<string, ToldScore>> {
  const rows = await tx
    .select({
      wallet: currentScore.wallet,
      scoreId: score.id,
      grade: score.grade,
      ahsScore: score.ahsScore,
      d1Score: score.d1Score,
      d2Score: score.d2Score,
      confidenceMicros: score.confidenceMicros,
      confidenceLevel: score.confidenceLevel,
      sanctioned: score.sanctioned,
      sanctionsFlags: score.sanctionsFlags,
      asOfBlock: score.asOfBlock,
      asOfTime: score.asOfTime,
      inputsHash: score.inputsHash,
    })
    .from(currentScore)
    .innerJoin(score, eq(score.id, currentScore.scoreId))
    .where(and(eq(currentScore.chainId, of.chainId), isOneOf(currentScore.wallet, of.wallets)));
  return new Map(rows.map(({ wallet, ...told }) => [wallet, told]));
}
