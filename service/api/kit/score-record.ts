import type { Logger } from "pino";
import type { Address } from "viem";
import type { PayingCaller } from "../../access/access.ts";
import { unavailable } from "../../access/problems.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { ScoreReader, StoredScore, WalletSnapshot } from "../../scores/stored-score.ts";
import { type AhsRecord, renderAhsRecord } from "../schemas/ahs-record.ts";
import { neverSeen, notIndexed, type ScoredSnapshot } from "./wallet-report.ts";

/** Services of endpoints that enrol what they were paid for. */
export type EnrolNeeds = {
  /**
   * Asks to follow wallets that a caller paid for, in one transaction with the capture of the debit that pays; null for a payment that
   * was settled before, or a key without a limit.
   */
  readonly enrol: (
    wallets: readonly Address[],
    paid: { readonly caller: PayingCaller; readonly debitId: string | null },
  ) => Promise<void>;
};

/** The row of a score, or why it is missing now; history-unavailable: the source of histories has none for it. */
type ScoringOutcome =
  | { readonly kind: "stored"; readonly row: StoredScore }
  | { readonly kind: "not-indexed" }
  | {
      readonly kind: "unavailable" | "history-unavailable";
      readonly detail: string;
      readonly retryAfterSeconds: number;
    };

/** Services of endpoints that score a wallet. */
export type ScoringNeeds = {
  readonly scoreNow: (address: Address) => Promise<ScoringOutcome>;
  /** Null without a source of history: then wallets outside the index are not scored. */
  readonly scoreOnDemand: ((address: Address, caller: PayingCaller) => Promise<ScoringOutcome>) | null;
};

/** Services of endpoints that fetch the history of a wallet. */
export type SenderNeeds = {
  /** Whether an account has sent transactions of its own, by the node; null without a node. Rejects if it does not answer. */
  readonly hasSent: ((address: Address) => Promise<boolean>) | null;
};

/** Services of answers with a record. */
export type RecordNeeds = {
  readonly scores: Pick<ScoreReader, "published" | "trend">;
  readonly oracle: Address;
  readonly policy: Policy;
};

type Score = NonNullable<ScoringNeeds["scoreOnDemand"]>;

const TREND_MS = 30 * 24 * 3_600_000;

/** Selects how to score a wallet. Throws a 404 if the wallet cannot be scored. */
export function scorerOf(
  address: Address,
  { known, sanctions }: Pick<ScoredSnapshot, "known" | "sanctions">,
  deps: ScoringNeeds,
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
  { known }: Pick<ScoredSnapshot, "known">,
  { hasSent, logger }: SenderNeeds & { readonly logger: Logger },
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
  { scores, oracle, policy }: RecordNeeds,
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
