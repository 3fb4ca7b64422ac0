import { returnDebit } from "../../access/key-debits.ts";
import type { Database } from "../../db/database.ts";
import { planRetry, type Random } from "./retry-schedule.ts";
import { tellOfVerdict } from "./verdict-events.ts";
import type { Claim } from "./verdict-queue.ts";
import { endRun, postponeRun } from "./verdict-runs.ts";

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
export type FailureFate = "retried" | "failed" | "stands" | "lost";

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
