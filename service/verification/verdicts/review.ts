import { and, eq, isNotNull, isNull, or, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { z } from "zod";
import type { Database } from "../../db/database.ts";
import { holdClock } from "../../db/tables/settlement.ts";
import { verdict, type verdictRun } from "../../db/tables/verdict.ts";
import { JOB_COLUMNS, jobOf } from "../escrow/types.ts";
import { buildEvidence } from "../panel/evidence-document.ts";
import { thresholdOf } from "../panel/policy.ts";
import type { OutputCheck } from "../panel/types.ts";
import { subjectOf } from "./build-decision.ts";
import { lockVerdict } from "./lock-verdict.ts";
import { type NewDecision, resultOf, storable, storeDecision, takeNewestDecision } from "./store-decision.ts";
import { readVerdictCase, type VerdictCase } from "./verdict-cases.ts";
import type { Review, ReviewOutcome, VerdictResult } from "./verdict-result.ts";

/** True if a job's verdict failed without a decision and holds its slot; then it is locked until the database transaction ends. */
function takeFailedOfJob(tx: NodePgDatabase, verdictId: string): Promise<boolean> {
  return lockVerdict(
    tx,
    verdictId,
    eq(verdict.status, "failed"),
    eq(verdict.runs, 0),
    isNotNull(verdict.jobId),
    isNull(verdict.replacedAt),
  );
}

/**
 * Stores a reviewer's decision with its own evidence, which names reviewer and reason: on a held verdict, with the panel's score and
 * findings, or on a failed one of a job, without them. It cancels a re-run that is due or running.
 */
export async function recordReview(
  deps: { db: Database; chainId: number; now: () => Date },
  review: Review,
): Promise<ReviewOutcome> {
  const { verdictId } = review;
  return deps.db.transaction(async (tx) => {
    const newest = await takeNewestDecision(tx, verdictId);
    if (newest === null && !(await takeFailedOfJob(tx, verdictId))) return { kind: "undecided" };
    if (newest !== null && newest.finalVerdict !== "HOLD")
      return { kind: "not_held", finalVerdict: newest.finalVerdict };
    const verdictCase = await readVerdictCase(tx, {
      verdictId,
      chainId: deps.chainId,
      texts: deps.db.texts,
    });
    const decision = decisionOf(storable(review), { newest, verdictCase, at: deps.now() });
    await storeDecision(tx, decision);
    return { kind: "recorded", run: decision.run, evidenceHash: decision.evidence.hash };
  });
}

/** Builds the rows of a review. Score, findings and checks are those of the held decision, if there is one. */
function decisionOf(
  review: Review,
  {
    newest,
    verdictCase,
    at,
  }: { newest: typeof verdictRun.$inferSelect | null; verdictCase: VerdictCase; at: Date },
): NewDecision {
  const place = { verdictId: review.verdictId, run: (newest?.run ?? 0) + 1, cause: "review" } as const;
  const held = newest === null ? null : resultOf(newest);
  const panel = held ?? unjudged(verdictCase.domain, review);
  const { panel_version, prompt_hash, models, thresholds, rules_fired, voting = null } = panel.methodology;
  const evidence = buildEvidence({
    ...place,
    ...subjectOf(verdictCase),
    decision: review.decision,
    score: panel.final_score,
    confidence: panel.confidence,
    mdi: panel.mdi,
    methodology: { panelVersion: panel_version, promptHash: prompt_hash, models, thresholds, voting },
    rulesFired: rules_fired,
    appealed: null,
    findings: panel.findings,
    // Erased evidence is empty.
    ...(newest === null || newest.evidence === ""
      ? { checks: [], fabricationRisk: null }
      : storedEvidence.parse(JSON.parse(newest.evidence))),
    review,
    evaluatedAt: at.toISOString(),
  });
  const { reviewedBy: reviewed_by, reason } = review;
  const result = { ...panel, final_verdict: review.decision, review: { reviewed_by, reason } };
  return { ...place, result, evidence, at };
}

/** Result without a score and a finding of the panel; its methodology has only the domain's thresholds. */
function unjudged(domain: string, { decision, reason }: Review): VerdictResult {
  const methodology = { panel_version: null, prompt_hash: null, models: {}, rules_fired: [], voting: null };
  return {
    final_verdict: decision,
    final_score: null,
    confidence: null,
    mdi: null,
    domain,
    met_criteria: [],
    unmet_criteria: [],
    key_objections: [],
    reasoning: reason,
    strongest_dissent: null,
    generator_majority: null,
    critic_override_applied: false,
    zero_history_adjustment_applied: false,
    rejection_asymmetry_applied: false,
    latency_ms: null,
    findings: [],
    methodology: { ...methodology, thresholds: thresholdOf(domain) },
    review: null,
  };
}

/** Members of the stored evidence that the result does not have. */
const storedEvidence = z
  .object({
    checks: z.array(z.object({ name: z.string(), finding: z.string(), criterion: z.string().nullable() })),
    fabrication_risk: z.enum(["none", "low", "medium", "high"]).nullable(),
  })
  .transform(({ checks, fabrication_risk }) => ({
    // Only buildEvidence writes these names, and with this type.
    checks: checks as readonly OutputCheck[],
    fabricationRisk: fabrication_risk,
  }));

/** A verdict in the list for reviewers. failed: the panel made no decision on a job's output. */
export type HeldVerdict = Awaited<ReturnType<typeof listHeldVerdicts>>["verdicts"][number];

/**
 * Lists verdicts on HOLD without an ended job, and failed ones of jobs, with their total. Verdicts of jobs come first, by expiry, then those
 * of jobs without a running clock, then the rest, each by waiting time. At most `limit`, or all if it is null.
 */
export async function listHeldVerdicts(db: Database, limit: number | null) {
  const since = sql`coalesce(${verdict.evaluatedAt}, ${verdict.updatedAt})`.mapWith(verdict.updatedAt);
  const isFailedOfJob = and(eq(verdict.status, "failed"), eq(verdict.runs, 0), isNotNull(verdict.jobId));
  const rows = await db
    .select({
      id: verdict.id,
      state: sql<"HOLD" | "failed">`coalesce(${verdict.finalVerdict}, 'failed')`,
      since,
      ...JOB_COLUMNS,
      expiresAt: holdClock.expiresAt,
      reviewBy: holdClock.reviewBy,
      total: sql<number>`count(*) over ()::int`,
    })
    .from(verdict)
    .leftJoin(holdClock, eq(holdClock.verdictId, verdict.id))
    .where(
      and(
        or(eq(verdict.finalVerdict, "HOLD"), isFailedOfJob),
        isNull(verdict.replacedAt),
        isNull(holdClock.endedAt),
      ),
    )
    .orderBy(sql`${verdict.jobId} is null`, holdClock.expiresAt, since, verdict.id)
    .limit(limit ?? Number.MAX_SAFE_INTEGER);
  const verdicts = rows.map(({ total: _, jobChainId, jobEscrow, jobId, ...held }) => ({
    ...held,
    job: jobOf({ jobChainId, jobEscrow, jobId }),
  }));
  return { verdicts, total: rows[0]?.total ?? 0 };
}
