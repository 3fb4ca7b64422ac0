import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { returnDebit } from "../../access/key-debits.ts";
import type { Database } from "../../db/database.ts";
import { notifyOfVerdict } from "./verdict-events.ts";
import type { Claim } from "./verdict-queue.ts";
import { holdsClaim } from "./verdict-queue.ts";

/** Postpones a failed run to its next attempt; false if another worker has the lease. */
async function postponeRun(
  tx: NodePgDatabase,
  claim: Claim,
  { at, notBefore }: { readonly at: Date; readonly notBefore: Date },
): Promise<boolean> {
  const { rowCount } = await tx.execute(sql`
    update ahs.verdict set status = 'pending', lease_until = null, not_before = ${notBefore}, updated_at = ${at}
    where ${holdsClaim(claim)}`);
  return rowCount === 1;
}

/**
 * Ends a run without a decision: a verdict without a decision fails, one with an earlier decision is completed. Returns which, with the
 * debit that paid for it; null if another worker has the lease.
 */
async function endRun(
  tx: NodePgDatabase,
  claim: Claim,
  { at, message }: { readonly at: Date; readonly message: string },
): Promise<{ readonly status: "failed" | "completed"; readonly debitId: string | null } | null> {
  const { rows } = await tx.execute<{ status: "failed" | "completed"; debit_id: string | null }>(sql`
    update ahs.verdict set status = case when runs = 0 then 'failed' else 'completed' end, lease_until = null,
      error_message = ${message}, updated_at = ${at}
    where ${holdsClaim(claim)} returning status, debit_id`);
  const [row] = rows;
  return row === undefined ? null : { status: row.status, debitId: row.debit_id };
}

export type FailDeps = { readonly db: Database; readonly now: () => Date; readonly random: Random };

/** Reason of a run without a decision. */
export type RunFailure = {
  /** For the verdict's error_message. */
  readonly message: string;
  /** True if a later run of the same case may succeed. */
  readonly retryable: boolean;
};

/**
 * retried: a later attempt is scheduled. failed: the verdict failed until its owner retries it. stands: a re-run failed, and the earlier
 * decision remains. lost: another worker has the lease, and nothing changed.
 */
type FailureFate = "retried" | "failed" | "stands" | "lost";

/**
 * Stores the result of a run without a decision: another attempt within an hour of the first one if that may help, otherwise its end. A
 * failed verdict notifies its endpoint and costs nothing: a key gets its debit back in the same database transaction, a payment stays with
 * the verdict and is owed.
 */
export async function failRun(deps: FailDeps, claim: Claim, failure: RunFailure): Promise<FailureFate> {
  const at = deps.now();
  const plan = failure.retryable
    ? planRetry({ triedAt: claim.triedAt, now: at }, deps.random)
    : ({ kind: "over" } as const);
  return deps.db.transaction(async (tx) => {
    if (plan.kind === "retry")
      return (await postponeRun(tx, claim, { at, notBefore: plan.at })) ? "retried" : "lost";
    const ended = await endRun(tx, claim, { at, message: failure.message });
    if (ended === null) return "lost";
    if (ended.status === "completed") return "stands";
    if (ended.debitId !== null) await returnDebit(tx, ended.debitId);
    const { verdictId, retries } = claim;
    await notifyOfVerdict(tx, { kind: "failed", message: failure.message, retries }, { verdictId, at });
    return "failed";
  });
}

/** A number from 0 to 1, without 1. */
type Random = () => number;

/** Next step after a temporary failure. */
type RetryPlan = { readonly kind: "retry"; readonly at: Date } | { readonly kind: "over" };

/** Retry period of a run, counted from its first attempt. */
export const RETRY_FOR_MS = 3_600_000;
const SHORTEST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 600_000;
/** Jitter in both directions, so that failed runs do not return together. */
const JITTER = 0.2;

/**
 * Plans the next attempt. The pause equals the time since the first attempt, so pauses double, from 5 seconds to 10 minutes, with 20 %
 * jitter. The last attempt is at the end of the hour.
 */
export function planRetry(
  { triedAt, now }: { readonly triedAt: Date; readonly now: Date },
  random: Random,
): RetryPlan {
  const spentMs = now.getTime() - triedAt.getTime();
  if (spentMs >= RETRY_FOR_MS) return { kind: "over" };
  const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, spentMs));
  const at = now.getTime() + Math.round(waitMs * (1 - JITTER + 2 * JITTER * random()));
  return { kind: "retry", at: new Date(Math.min(at, triedAt.getTime() + RETRY_FOR_MS)) };
}
