import { and, desc, eq, isNull, ne, sql } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { type Database, underDeadline } from "../../db/database.ts";
import { settlementCheck } from "../../db/tables/settlement.ts";
import { jobSpec, verdict, verdictRun } from "../../db/tables/verdict.ts";
import { JOB_COLUMNS, jobOf } from "../escrow/types.ts";
import { resultOf } from "./store-decision.ts";

/**
 * Finds the newest decision of a verdict on an output of the provider (lower-case): by its id, or by its specification and the output's
 * keccak256. A verdict of another provider is unknown. undecided: a run is due or under way, or an ALLOW or REJECT of a job is not signed
 * yet, so that an appeal may change it; failed: it has no decision and no run.
 * The id and the findings are left out: only callers who know the id may read them.
 */
export async function readDecision(
  db: Database,
  {
    provider,
    ...name
  }: { readonly provider: Address } & (
    | { readonly verdictId: string }
    | { readonly specId: string; readonly outputHash: Hex }
  ),
) {
  const isNamed =
    "verdictId" in name
      ? eq(verdict.id, name.verdictId)
      : and(eq(verdict.specId, name.specId), eq(verdict.outputHash, name.outputHash));
  const [row] = await underDeadline(db)
    .select({
      status: verdict.status,
      specHash: jobSpec.specHash,
      outputHash: verdict.outputHash,
      ...JOB_COLUMNS,
      result: verdictRun.result,
      evidenceHash: verdictRun.evidenceHash,
      evaluatedAt: verdictRun.createdAt,
      isUnsigned: sql<boolean>`${verdict.finalVerdict} <> 'HOLD' and ${settlementCheck.notBefore} is not null`,
    })
    .from(verdict)
    .innerJoin(jobSpec, eq(jobSpec.id, verdict.specId))
    .leftJoin(verdictRun, and(eq(verdictRun.verdictId, verdict.id), eq(verdictRun.run, verdict.runs)))
    .leftJoin(
      settlementCheck,
      and(eq(settlementCheck.verdictId, verdict.id), eq(settlementCheck.run, verdict.runs)),
    )
    .where(
      and(
        isNamed,
        eq(verdict.providerAddr, provider),
        ne(verdict.status, "unsettled"),
        isNull(verdict.replacedAt),
      ),
    )
    .orderBy(desc(verdict.createdAt))
    .limit(1);
  if (row === undefined) return { kind: "unknown" } as const;
  const { status, specHash, outputHash, evidenceHash, evaluatedAt } = row;
  if (status === "pending" || status === "processing" || row.isUnsigned)
    return { kind: "undecided" } as const;
  if (evidenceHash === null || evaluatedAt === null) return { kind: "failed" } as const;
  const job = jobOf(row);
  const result = resultOf(row);
  return {
    kind: "decided",
    decision: result.final_verdict,
    score: result.final_score,
    confidence: result.confidence,
    panelVersion: result.methodology.panel_version,
    isReviewed: result.review !== null,
    evidenceHash,
    evaluatedAt,
    // Both hashes are on chain for a job. Without one, a short text could be guessed by its hash.
    job: job === null ? null : { ...job, specHash, outputHash },
  } as const;
}
