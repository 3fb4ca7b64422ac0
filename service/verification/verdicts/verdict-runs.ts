import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import type { RunCause } from "../../db/tables/verdict.ts";
import { verdictRun } from "../../db/tables/verdict.ts";
import type { Decision } from "../panel/types.ts";
import { type Claim, holdsClaim } from "./verdict-queue.ts";

/** A decision on an output, as its row has it. */
export type DecisionRow = {
  readonly verdictId: string;
  /** One more than the decisions before it. */
  readonly run: number;
  readonly cause: RunCause;
  readonly finalVerdict: Decision;
  /** What readers get of it: plain JSON without U+0000 and lone surrogates, which PostgreSQL refuses. */
  readonly result: object;
  readonly evidence: string;
  readonly evidenceHash: Hex;
  readonly createdAt: Date;
};

/**
 * Writes a decision and makes it its verdict's newest, in the transaction that holds the verdict's row; throws where it is not
 * the next one.
 */
export async function insertDecision(tx: NodePgDatabase, decision: DecisionRow): Promise<void> {
  const { verdictId, run, cause, finalVerdict, createdAt: at } = decision;
  await tx.insert(verdictRun).values(decision);
  const { rowCount } = await tx.execute(sql`
    update ahs.verdict set status = 'completed', cause = ${cause}, runs = ${run}, final_verdict = ${finalVerdict},
      error_message = null, lease_until = null, evaluated_at = ${at}, updated_at = ${at}
    where id = ${verdictId} and runs = ${run - 1}`);
  if (rowCount !== 1) throw new Error(`decision ${run} of verdict ${verdictId} is not the next one`);
}

/** Has a run that failed wait for its next try; false where the claim is another's by now. */
export async function postponeRun(
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
export async function endRun(
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

/** The newest decision of a verdict, whose row nobody else changes until the transaction ends; null where it has none. */
export async function takeNewestDecision(tx: NodePgDatabase, verdictId: string): Promise<DecisionRow | null> {
  const { rows } = await tx.execute(sql`
    select 1 from ahs.verdict where id = ${verdictId} and runs > 0 for update`);
  if (rows.length === 0) return null;
  const [row] = await tx
    .select()
    .from(verdictRun)
    .where(sql`verdict_id = ${verdictId} and run = (select runs from ahs.verdict where id = ${verdictId})`);
  if (row === undefined) throw new Error(`verdict ${verdictId} counts a decision that it does not have`);
  return { ...row, result: Object(row.result) };
}
