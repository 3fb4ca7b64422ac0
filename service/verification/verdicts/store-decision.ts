import { and, eq, getTableColumns, gt } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import { decideCapture } from "../../access/schemes/auth-capture/captures.ts";
import { type RunCause, verdict, verdictRun } from "../../db/tables/verdict.ts";
import { queueDecision } from "../escrow/settlements.ts";
import { endAppeal } from "./appeals.ts";
import { lockVerdict } from "./lock-verdict.ts";
import { notifyOfVerdict } from "./verdict-events.ts";
import type { VerdictResult } from "./verdict-result.ts";

/** A decision of the panel or of a reviewer; runs count from 1. */
export type NewDecision = {
  verdictId: string;
  run: number;
  cause: RunCause;
  result: VerdictResult;
  evidence: { body: string; hash: Hex };
  at: Date;
};

/**
 * Stores a decision as its verdict's newest, queues it for signing if it is about a bound job, and queues its event. After a HOLD on appeal
 * the appealed decision remains the newest. The caller's database transaction must hold the verdict's lock and have checked that the decision
 * is still wanted. Throws if it is not the next one.
 */
export async function storeDecision(
  tx: NodePgDatabase,
  { verdictId, run, cause, result, evidence: { body: evidence, hash: evidenceHash }, at }: NewDecision,
): Promise<void> {
  const finalVerdict = result.final_verdict;
  await tx
    .insert(verdictRun)
    .values({ verdictId, run, cause, finalVerdict, result, evidence, evidenceHash, createdAt: at });
  if (cause === "appeal") {
    const { appealedRun } = await endAppeal(tx, { verdictId, decision: finalVerdict, at });
    if (finalVerdict === "HOLD") return keepAppealed(tx, { verdictId, run, appealedRun, at });
  }
  const { rowCount } = await tx
    .update(verdict)
    .set({
      status: "completed",
      cause,
      runs: run,
      finalVerdict,
      errorMessage: null,
      leaseUntil: null,
      evaluatedAt: at,
      updatedAt: at,
    })
    .where(and(eq(verdict.id, verdictId), eq(verdict.runs, run - 1)));
  if (rowCount !== 1) throw new Error(`decision ${run} of verdict ${verdictId} is not the next one`);
  await decideCapture(tx, verdictId, { to: "capturing", at });
  await queueDecision(tx, { verdictId, run }, at);
  const news = { kind: "decided", run, cause, decision: finalVerdict, evidenceHash } as const;
  await notifyOfVerdict(tx, news, { verdictId, at });
}

/** Lets the appealed decision be settled after a HOLD of the second panel, which stays on record as a run of its own. */
async function keepAppealed(
  tx: NodePgDatabase,
  { verdictId, run, appealedRun, at }: { verdictId: string; run: number; appealedRun: number; at: Date },
): Promise<void> {
  await tx
    .update(verdict)
    .set({ status: "completed", errorMessage: null, leaseUntil: null, updatedAt: at })
    .where(eq(verdict.id, verdictId));
  await queueDecision(tx, { verdictId, run: appealedRun }, at);
  await notifyOfVerdict(tx, { kind: "appeal_held", run, appealedRun }, { verdictId, at });
}

/** Locks a verdict until the database transaction ends and reads its newest decision; null without one. */
export async function takeNewestDecision(
  tx: NodePgDatabase,
  verdictId: string,
): Promise<typeof verdictRun.$inferSelect | null> {
  if (!(await lockVerdict(tx, verdictId, gt(verdict.runs, 0)))) return null;
  const [row] = await tx
    .select(getTableColumns(verdictRun))
    .from(verdictRun)
    .innerJoin(verdict, and(eq(verdict.id, verdictRun.verdictId), eq(verdict.runs, verdictRun.run)))
    .where(eq(verdictRun.verdictId, verdictId));
  if (row === undefined) throw new Error(`verdict ${verdictId} counts a decision that it does not have`);
  return row;
}

/** The result of a stored decision. */
export function resultOf({ result }: Pick<typeof verdictRun.$inferSelect, "result">): VerdictResult {
  // Only storeDecision and erasing write the column, and with this type.
  return result as VerdictResult;
}

/**
 * Replaces U+0000 and unpaired surrogates in all strings by U+FFFD, because PostgreSQL refuses them in text and JSON. Models repeat such
 * characters of an output.
 */
export function storable<Value>(value: Value): Value {
  // The shape of the value does not change.
  return cleaned(value) as Value;
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed().replaceAll("\u0000", "\uFFFD");
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [cleaned(key), cleaned(member)]));
}
