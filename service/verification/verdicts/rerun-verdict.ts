import { and, eq, exists, inArray, isNotNull, ne, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Retaken, retakeDebit } from "../../access/key-debits.ts";
import type { Database } from "../../db/database.ts";
import { payment } from "../../db/tables/payment.ts";
import { jobSpec, outputText, type VerdictStatus, verdict, verdictRun } from "../../db/tables/verdict.ts";
import { lockVerdict } from "./lock-verdict.ts";
import { MAX_RETRIES } from "./settle-intake.ts";
import { wakeWorkers } from "./verdict-queue.ts";

/** Outcome of a retry request. */
export type RetryOutcome =
  /** `charge` is null for a payment, which stays in place. */
  | { readonly kind: "queued"; readonly charge: Exclude<Retaken, { readonly kind: "short" }> | null }
  | { readonly kind: "unknown" }
  | { readonly kind: "not-the-submitter" }
  | { readonly kind: "not-failed"; readonly status: VerdictStatus }
  | { readonly kind: "used-up" }
  | { readonly kind: "texts-dropped" }
  /** The key's balance is below the returned price. */
  | { readonly kind: "short"; readonly units: number; readonly balanceUnits: number };

/**
 * Queues a failed verdict again for its submitter, at most three times. A key pays the returned price again in the same database
 * transaction; a payment stays in place. If nothing was returned, client and provider of its job may ask as well.
 */
export function retryVerdict(
  db: Database,
  { verdictId, owner, now }: { verdictId: string; owner: string; now: Date },
): Promise<RetryOutcome> {
  return db.transaction(async (tx) => {
    const state = await takeForRetry(tx, verdictId);
    if (state === null) return { kind: "unknown" };
    const refusal = refusalOf(state, owner);
    if (refusal !== null) return refusal;
    const { debitId, units } = state;
    const charge = debitId === null ? null : await retakeDebit(tx, debitId);
    if (charge?.kind === "short") return { ...charge, units };
    await queueRetry(tx, verdictId, now);
    await wakeWorkers(tx);
    return { kind: "queued", charge };
  });
}

/** Returns why a verdict is not retried; null if it is. */
export function refusalOf(state: RetryState, owner: string): RetryOutcome | null {
  if (!mayRetry(state, owner)) return { kind: "not-the-submitter" };
  // A re-run of a decided verdict never fails, and shows as completed.
  const status = state.runs > 0 ? "completed" : state.status;
  if (status !== "failed") return { kind: "not-failed", status };
  if (state.isReplaced || state.isReturned || state.retries >= MAX_RETRIES) return { kind: "used-up" };
  return state.hasTexts ? null : { kind: "texts-dropped" };
}

/** Only its owner may cause a charge to a key. */
function mayRetry({ owner, parties, debitId }: RetryState, by: string): boolean {
  return owner === by || (debitId === null && parties.some((party) => `wallet:${party}` === by));
}

/** Facts that decide if a verdict may be retried. */
export type RetryState = Pick<
  typeof verdict.$inferSelect,
  "owner" | "status" | "runs" | "retries" | "units" | "debitId"
> & {
  /** Client and provider of its job, in lower case; empty without a job. */
  parties: readonly string[];
  /** Another verdict has taken its slot. */
  isReplaced: boolean;
  /** Its payment goes back from the escrow to the payer. */
  isReturned: boolean;
  /** True if its text and its specification's are still stored. */
  hasTexts: boolean;
};

/** Locks a verdict until the database transaction ends; null if it does not exist or is not visible. */
export async function takeForRetry(tx: NodePgDatabase, verdictId: string): Promise<RetryState | null> {
  if (!(await lockVerdict(tx, verdictId, ne(verdict.status, "unsettled")))) return null;
  const { owner, status, runs, retries, units, debitId, jobId, providerAddr } = verdict;
  const goesBack = tx
    .select()
    .from(payment)
    .where(and(eq(payment.id, verdict.paymentId), inArray(payment.captureState, ["voiding", "voided"])));
  const output = tx.select().from(outputText).where(eq(outputText.verdictId, verdict.id));
  const [row] = await tx
    .select({
      state: { owner, status, runs, retries, units, debitId },
      jobId,
      parties: { providerAddr, clientAddr: jobSpec.clientAddr },
      isReplaced: sql<boolean>`${isNotNull(verdict.replacedAt)}`,
      isReturned: sql<boolean>`${exists(goesBack)}`,
      hasTexts: sql<boolean>`${exists(output)} and ${isNotNull(jobSpec.specText)}`,
    })
    .from(verdict)
    .innerJoin(jobSpec, eq(jobSpec.id, verdict.specId))
    .where(eq(verdict.id, verdictId));
  if (row === undefined) return null;
  const { state, jobId: job, parties, ...facts } = row;
  return { ...state, ...facts, parties: job === null ? [] : Object.values(parties) };
}

/** Queues a failed verdict again, as a retry. */
export async function queueRetry(tx: NodePgDatabase, verdictId: string, at: Date): Promise<void> {
  await tx
    .update(verdict)
    .set({
      status: "pending",
      cause: "retried",
      retries: sql`${verdict.retries} + 1`,
      attempts: 0,
      triedAt: null,
      notBefore: at,
      leaseUntil: null,
      errorMessage: null,
      updatedAt: at,
    })
    .where(eq(verdict.id, verdictId));
}

/**
 * Schedules a re-run of a held verdict, for each cause until it has led to a decision: at most two re-runs. A failed re-run does not count.
 * The earlier decision remains until the new one is stored. asked: it is due at the given time. busy: a re-run of either cause is due or
 * running; ask again after it. used_up: this cause had its decision. not_held: the newest decision is not HOLD, or is a reviewer's, or does
 * not exist.
 */
export async function askRerun(
  tx: NodePgDatabase,
  { verdictId, cause, at }: { verdictId: string; cause: "evidence" | "near_expiry"; at: Date },
): Promise<"asked" | "busy" | "used_up" | "not_held"> {
  await lockVerdict(tx, verdictId);
  const [row] = await tx
    .select({ status: verdict.status, decision: verdict.finalVerdict })
    .from(verdict)
    .where(eq(verdict.id, verdictId));
  if (row?.decision !== "HOLD") return "not_held";
  const runs = await tx
    .select({ cause: verdictRun.cause })
    .from(verdictRun)
    .where(eq(verdictRun.verdictId, verdictId));
  if (runs.some((run) => run.cause === "review")) return "not_held";
  if (runs.some((run) => run.cause === cause)) return "used_up";
  if (row.status !== "completed") return "busy";
  await tx
    .update(verdict)
    .set({ status: "pending", cause, triedAt: null, notBefore: at, errorMessage: null })
    .where(eq(verdict.id, verdictId));
  await wakeWorkers(tx);
  return "asked";
}
