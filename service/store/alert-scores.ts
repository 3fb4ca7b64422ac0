import { and, eq } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { SanctionsFlag } from "../features/types.ts";
import type { ConfidenceLevel, Grade } from "../score/record.ts";
import { isOneOf } from "./publish-scores.ts";
import { currentScore, score } from "./tables/score.ts";

/** The current score of a wallet, as far as somebody is told of it. */
export type ToldScore = {
  readonly scoreId: number;
  /** Null for a record without enough history, as is ahsScore. */
  readonly grade: Grade | null;
  readonly ahsScore: number | null;
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
