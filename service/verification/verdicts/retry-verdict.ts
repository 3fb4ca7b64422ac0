import { retakeDebit } from "../../access/key-debits.ts";
import type { Database } from "../../db/database.ts";
import type { VerdictStatus } from "../../db/tables/verdict.ts";
import { wakeWorkers } from "./verdict-intake.ts";
import { queueRetry, type RetryStanding, takeForRetry } from "./verdict-retries.ts";
import { MAX_RETRIES } from "./verdict-slots.ts";

export type RetryRequest = {
  readonly verdictId: string;
  /** Who asks: key:ID or wallet:ADDRESS. */
  readonly owner: string;
  readonly now: Date;
};

/** What became of a wish to have a failed verdict run again. */
export type RetryOutcome =
  | { readonly kind: "queued" }
  | { readonly kind: "unknown" }
  | { readonly kind: "not-the-submitter" }
  | { readonly kind: "not-failed"; readonly status: VerdictStatus }
  | { readonly kind: "used-up" }
  | { readonly kind: "texts-dropped" }
  /** The key cannot pay the price that was returned to it. */
  | { readonly kind: "short"; readonly units: number; readonly balanceUnits: number };

/**
 * Queues a failed verdict again, three times at most, for its submitter: a key pays the price again that was returned to it, in the
 * same transaction, and a payment stays what paid for it. Where nothing was returned, client and provider of its job may ask as well.
 */
export function retryVerdict(db: Database, { verdictId, owner, now }: RetryRequest): Promise<RetryOutcome> {
  return db.transaction(async (tx) => {
    const standing = await takeForRetry(tx, verdictId);
    if (standing === null) return { kind: "unknown" };
    const refusal = refusalOf(standing, owner);
    if (refusal !== null) return refusal;
    const { debitId, units } = standing;
    const balanceUnits = debitId === null ? null : await retakeDebit(tx, debitId);
    if (balanceUnits !== null) return { kind: "short", units, balanceUnits };
    await queueRetry(tx, verdictId, now);
    await wakeWorkers(tx);
    return { kind: "queued" };
  });
}

/** Why a verdict is not retried; null where it is. */
export function refusalOf(standing: RetryStanding, owner: string): RetryOutcome | null {
  if (!mayRetry(standing, owner)) return { kind: "not-the-submitter" };
  // A re-run of a decided verdict shows as completed: it never fails.
  const status = standing.runs > 0 ? "completed" : standing.status;
  if (status !== "failed") return { kind: "not-failed", status };
  if (standing.isReplaced || standing.retries >= MAX_RETRIES) return { kind: "used-up" };
  return standing.hasTexts ? null : { kind: "texts-dropped" };
}

/** Nobody has a key charged that is not theirs. */
function mayRetry({ owner, parties, debitId }: RetryStanding, by: string): boolean {
  return owner === by || (debitId === null && parties.some((party) => `wallet:${party}` === by));
}
