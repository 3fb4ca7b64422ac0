import { sql } from "drizzle-orm";
import { returnDebit } from "../../access/key-debits.ts";
import { decideCapture } from "../../access/schemes/auth-capture/captures.ts";
import type { Database } from "../../db/database.ts";
import { verdict } from "../../db/tables/verdict.ts";
import { failAppeal } from "./appeals.ts";
import { notifyOfVerdict } from "./verdict-events.ts";
import { isLeasedBy, type RunLease } from "./verdict-queue.ts";

/** Reason of a run without a decision, for the verdict's error_message, and whether a later run of the same case may succeed. */
export type RunFailure = { message: string; retryable: boolean };

/**
 * Stores the result of a run without a decision: another attempt within an hour of the first one if that may help, otherwise its end.
 *
 * - `failed`: the verdict notifies its endpoint and costs nothing. A key gets its debit back in the same database transaction, and a payment
 *   in the payment escrow is to be voided; any other payment stays with the verdict and is owed.
 * - The third result: a re-run failed, and the earlier decision remains. An appeal gives its price back.
 * - `lost`: another worker has the lease, and nothing changed.
 */
export async function failRun(
  deps: { db: Database; now: () => Date; random: () => number },
  lease: RunLease,
  { message, retryable }: RunFailure,
): Promise<"retried" | "failed" | "stands" | "lost"> {
  const at = deps.now();
  const retryAt = retryable ? planRetry({ triedAt: lease.triedAt, now: at }, deps.random) : null;
  return deps.db.transaction(async (tx) => {
    if (retryAt !== null) {
      const retried = { status: "pending", leaseUntil: null, notBefore: retryAt, updatedAt: at } as const;
      const { rowCount } = await tx.update(verdict).set(retried).where(isLeasedBy(lease));
      return rowCount === 1 ? "retried" : "lost";
    }
    const [row] = await tx
      .update(verdict)
      .set({
        status: sql`case when ${verdict.runs} = 0 then 'failed' else 'completed' end`,
        leaseUntil: null,
        errorMessage: message,
        updatedAt: at,
      })
      .where(isLeasedBy(lease))
      .returning({ status: verdict.status, debitId: verdict.debitId });
    if (row === undefined) return "lost";
    if (row.status === "completed") {
      if (lease.cause === "appeal") await failAppeal(tx, lease.verdictId, { message, at });
      return "stands";
    }
    if (row.debitId !== null) await returnDebit(tx, row.debitId);
    const { verdictId, retries } = lease;
    await decideCapture(tx, verdictId, { to: "voiding", at });
    await notifyOfVerdict(tx, { kind: "failed", message, retries }, { verdictId, at });
    return "failed";
  });
}

/** Retry period of a run, counted from its first attempt. */
export const RETRY_FOR_MS = 3_600_000;
const SHORTEST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 600_000;
/** Jitter in both directions, so that failed runs do not return together. */
const JITTER = 0.2;

/**
 * Returns the time of the next attempt after a temporary failure; null after the hour. The pause equals the time since the first attempt, so
 * pauses double, from 5 seconds to 10 minutes, with 20 % jitter. The last attempt is at the end of the hour.
 */
export function planRetry({ triedAt, now }: { triedAt: Date; now: Date }, random: () => number): Date | null {
  const spentMs = now.getTime() - triedAt.getTime();
  if (spentMs >= RETRY_FOR_MS) return null;
  const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, spentMs));
  const at = now.getTime() + Math.round(waitMs * (1 - JITTER + 2 * JITTER * random()));
  return new Date(Math.min(at, triedAt.getTime() + RETRY_FOR_MS));
}
