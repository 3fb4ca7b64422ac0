import type { Address } from "viem";
import type { PayingCaller } from "../../access/access.ts";
import { unavailable } from "../../access/problems.ts";
import type { StoredScore, WalletSnapshot } from "../../scores/scores.ts";
import { type AhsRecord, renderAhsRecord } from "../schemas/ahs-record.ts";
import type { Services } from "../services.ts";
import { neverSeen, notIndexed, type ScoredStanding } from "./wallet-report.ts";

type Score = NonNullable<Services["scoreOnDemand"]>;

const TREND_MS = 30 * 24 * 3_600_000;

/** Selects how to score a wallet. Throws a 404 if the wallet cannot be scored. */
export function scorerOf(
  address: Address,
  { known, sanctions }: Pick<ScoredStanding, "known" | "sanctions">,
  deps: Pick<Services, "scoreNow" | "scoreOnDemand">,
): Score {
  // The record of a listed wallet depends on the list alone, so it needs no history.
  if (sanctions.length > 0) return deps.scoreNow;
  if (!known && deps.scoreOnDemand === null) throw notIndexed(address);
  return deps.scoreOnDemand ?? deps.scoreNow;
}

/**
 * For a wallet outside the index, before anything is charged. Throws a 404 if it has sent no transaction, so that no source has a history
 * of it, and a 503 while the node does not say.
 */
export async function requireSender(
  address: Address,
  { known }: Pick<ScoredStanding, "known">,
  { hasSent, logger }: Pick<Services, "hasSent" | "logger">,
): Promise<void> {
  if (known || hasSent === null) return;
  const sent = await hasSent(address).catch((error: unknown) => {
    logger.warn(
      { err: error, wallet: address },
      "the node does not say whether a wallet has sent transactions",
    );
    return null;
  });
  if (sent === null)
    throw unavailable("history-unavailable", "The node does not answer whether the wallet has a history.", {
      retryAfterSeconds: NODE_RETRY_SECONDS,
    });
  if (!sent) throw neverSeen(address);
}

const NODE_RETRY_SECONDS = 5;

/** Scores the wallet and returns its row. Throws the 404 and 503 problems of a failed scoring. */
export async function scoredRow(address: Address, score: Score, caller: PayingCaller): Promise<StoredScore> {
  const result = await score(address, caller);
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

/** The record of a stored score, with the publication, trend and threats of its wallet. */
export async function recordOf(
  { row, threats }: { readonly row: StoredScore } & Pick<WalletSnapshot, "threats">,
  {
    scores,
    oracle,
    policy,
  }: Pick<Services, "oracle" | "policy"> & {
    readonly scores: Pick<Services["scores"], "published" | "trend">;
  },
  now: Date,
): Promise<AhsRecord> {
  // Stored wallets are lower-case addresses.
  const address = row.wallet as Address;
  const [published, trend] = await Promise.all([
    scores.published(address),
    scores.trend(address, new Date(row.asOfTime.getTime() - TREND_MS)),
  ]);
  return renderAhsRecord({ row, published, oracle, trend, threats, policy, now });
}
