import type { Address } from "viem";
import { unavailable } from "../../access/problems.ts";
import type { PublishedScore, ScoreTrend, StoredScore, WalletSnapshot } from "../../scores/scores.ts";
import { type AhsRecord, renderAhsRecord } from "../schemas/ahs-record.ts";
import { notIndexed, type WalletPorts } from "./wallet-report.ts";

/** Result of scoring a wallet at the newest finalized and enriched block. */
type ScoreNowResult =
  | { readonly kind: "stored"; readonly row: StoredScore }
  | { readonly kind: "not-indexed" }
  | { readonly kind: "unavailable"; readonly detail: string; readonly retryAfterSeconds: number };

type Score = (
  address: Address,
) => Promise<
  | ScoreNowResult
  | { readonly kind: "history-unavailable"; readonly detail: string; readonly retryAfterSeconds: number }
>;

/** Ports of every endpoint that scores wallets. */
export type ScoreRecordPorts = WalletPorts & {
  readonly scores: {
    published(address: Address): Promise<PublishedScore | null>;
    trend(address: Address, since: Date): Promise<ScoreTrend>;
  };
  /**
   * Scores a wallet at the newest finalized and enriched block and stores the score; returns the stored row if no input changed.
   * If the wallet was listed or delisted since, the newest indexed block is used.
   */
  readonly scoreNow: (address: Address) => Promise<ScoreNowResult>;
  /**
   * The same for any wallet: fetches missing history from the history source, and enrols a wallet that the index does not follow.
   * Null without a source: then wallets outside the index are not scored.
   */
  readonly scoreOnDemand: Score | null;
  readonly oracle: Address;
};

const TREND_MS = 30 * 24 * 3_600_000;

/** Selects how to score a wallet. Throws a 404 if the wallet cannot be scored. */
export function scorerOf(
  address: Address,
  { followed, sanctions }: Pick<WalletSnapshot, "followed" | "sanctions">,
  deps: Pick<ScoreRecordPorts, "scoreNow" | "scoreOnDemand">,
): Score {
  // The record of a listed wallet depends on the list alone, so it needs no history.
  if (sanctions.length > 0) return deps.scoreNow;
  if (!followed && deps.scoreOnDemand === null) throw notIndexed(address);
  return deps.scoreOnDemand ?? deps.scoreNow;
}

/** Scores the wallet and returns its row. Throws the 404 and 503 problems of a failed scoring. */
export async function scoredRow(address: Address, score: Score): Promise<StoredScore> {
  const result = await score(address);
  switch (result.kind) {
    case "stored":
      return result.row;
    case "not-indexed":
      throw notIndexed(address);
    case "unavailable":
      throw unavailable("scoring-unavailable", result.detail, {
        retryAfterSeconds: result.retryAfterSeconds,
      });
    case "history-unavailable":
      throw unavailable("history-unavailable", result.detail, {
        retryAfterSeconds: result.retryAfterSeconds,
      });
  }
}

/** The record of a stored score, with the publication and trend of its wallet. */
export async function recordOf(row: StoredScore, deps: ScoreRecordPorts, now: Date): Promise<AhsRecord> {
  // Stored wallets are lower-case addresses.
  const address = row.wallet as Address;
  const [published, trend] = await Promise.all([
    deps.scores.published(address),
    deps.scores.trend(address, new Date(row.asOfTime.getTime() - TREND_MS)),
  ]);
  return renderAhsRecord({ row, published, oracle: deps.oracle, trend, now });
}
