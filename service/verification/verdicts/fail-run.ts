import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { returnDebit } from "../../access/key-debits.ts";
import type { Database } from "../../db/database.ts";
import { tellOfVerdict } from "./verdict-events.ts";
import type { Claim } from "./verdict-queue.ts";
import { holdsClaim } from "./verdict-queue.ts";

/** Has a run that failed wait for its next try; false where the claim is another's by now. */
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
 * Ends a run that gave no decision: a verdict without one has failed, one that has an earlier one is completed by it. Answers
 * which, with the debit that pays for it; null where the claim is another's by now.
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

/** Why a run gave no decision. */
export type RunFailure = {
  /** For the verdict's error_message. */
  readonly message: string;
  /** Whether the same case may fare better later. */
  readonly retryable: boolean;
};

/**
 * retried: it is tried again later. failed: the verdict has failed, for good until its owner has it retried. stands: a re-run has
 * failed, and the decision before it stands. lost: the claim is another's by now, and nothing was changed.
 */
type FailureFate = "retried" | "failed" | "stands" | "lost";

/**
 * Writes what comes of a run that gave no decision: another try within an hour of the first one where that may help, else the end
 * of it. A verdict that fails is told of to its endpoint and costs nothing: a metered key gets its debit back in the same
 * transaction, while a payment stays with the verdict and is owed.
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
    await tellOfVerdict(tx, { kind: "failed", message: failure.message, retries }, { verdictId, at });
    return "failed";
  });
}

/** A number from 0 to 1, 1 left out. */
type Random = () => number;

/** What comes of a run that failed for a reason that may pass. */
type RetryPlan = { readonly kind: "retry"; readonly at: Date } | { readonly kind: "over" };

/** For so long a run is tried again, counted from its first try. */
export const RETRY_FOR_MS = 3_600_000;
const SHORTEST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 600_000;
/** Either way, so that what failed together does not come back together. */
const JITTER = 0.2;

/**
 * When a run that failed is tried again: after as long as it has been tried for already, which doubles the waits, 5 seconds to 10
 * minutes and a fifth more or less. The last try comes when its hour is over, and after that it is over.
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
