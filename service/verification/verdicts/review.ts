import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { z } from "zod";
import type { Database } from "../../db/database.ts";
import { buildEvidence } from "../panel/evidence-document.ts";
import { thresholdOf } from "../panel/policy.ts";
import type { Decision, OutputCheck } from "../panel/types.ts";
import { subjectOf } from "./build-decision.ts";
import {
  type DecisionRow,
  type NewDecision,
  storable,
  storeDecision,
  takeNewestDecision,
  type VerdictResult,
} from "./store-decision.ts";
import { readVerdictCase, type VerdictCase } from "./verdict-cases.ts";

/** True if a job's verdict failed without a decision and holds its slot; then it is locked until the database transaction ends. */
async function takeFailedOfJob(tx: NodePgDatabase, verdictId: string): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select 1 from ahs.verdict
    where id = ${verdictId} and status = 'failed' and runs = 0 and job_id is not null and replaced_at is null for update`);
  return rows.length === 1;
}

type ReviewDeps = { readonly db: Database; readonly chainId: number; readonly now: () => Date };

/**
 * not_held: the newest decision is not HOLD. undecided: the verdict has no decision and is not a failed one of a job, or does not exist.
 */
export type ReviewOutcome =
  | { readonly kind: "recorded"; readonly run: number; readonly evidenceHash: Hex }
  | { readonly kind: "not_held"; readonly finalVerdict: Decision }
  | { readonly kind: "undecided" };

/**
 * Stores a reviewer's decision with its own evidence, which names reviewer and reason: on a held verdict, with the panel's score and
 * findings, or on a failed one of a job, without them. It cancels a re-run that is due or running.
 */
export async function recordReview(deps: ReviewDeps, review: Review): Promise<ReviewOutcome> {
  const { verdictId } = review;
  return deps.db.transaction(async (tx) => {
    const newest = await takeNewestDecision(tx, verdictId);
    if (newest === null && !(await takeFailedOfJob(tx, verdictId))) return { kind: "undecided" };
    if (newest !== null && newest.finalVerdict !== "HOLD")
      return { kind: "not_held", finalVerdict: newest.finalVerdict };
    const verdictCase = await readVerdictCase(tx, { verdictId, chainId: deps.chainId });
    const reviewed = { review: storable(review), verdictCase, at: deps.now() };
    const decision = newest === null ? reviewFailed(reviewed) : reviewHeld(newest, reviewed);
    await storeDecision(tx, decision);
    return { kind: "recorded", run: decision.run, evidenceHash: decision.evidence.hash };
  });
}

/** A reviewer's decision on a verdict. */
export type Review = {
  readonly verdictId: string;
  readonly decision: Exclude<Decision, "HOLD">;
  readonly reason: string;
  /** Reviewer's name in the evidence. */
  readonly reviewedBy: string;
};

/** A review with its case and time. */
type Reviewed = {
  readonly review: Review;
  readonly verdictCase: VerdictCase;
  readonly at: Date;
};

/** Builds the rows of a review of a held verdict. Score, findings and checks are the panel's. */
function reviewHeld(held: DecisionRow, { review, verdictCase, at }: Reviewed): NewDecision {
  const panel = resultOf(held);
  const { panel_version, prompt_hash, models, thresholds, rules_fired } = panel.methodology;
  const place = { verdictId: review.verdictId, run: held.run + 1, cause: "review" } as const;
  const evidence = buildEvidence({
    ...place,
    ...subjectOf(verdictCase),
    decision: review.decision,
    score: panel.final_score,
    confidence: panel.confidence,
    mdi: panel.mdi,
    methodology: { panelVersion: panel_version, promptHash: prompt_hash, models, thresholds },
    rulesFired: rules_fired,
    findings: panel.findings,
    ...storedEvidence.parse(JSON.parse(held.evidence)),
    review,
    evaluatedAt: at.toISOString(),
  });
  const result = { ...panel, final_verdict: review.decision, review: reviewOf(review) };
  return { ...place, result, evidence, at };
}

/**
 * Builds the rows of a review of a failed verdict. It is the first decision and has no score and no finding of the panel; its methodology
 * has only the domain's thresholds.
 */
function reviewFailed({ review, verdictCase, at }: Reviewed): NewDecision {
  const { domain } = verdictCase;
  const thresholds = thresholdOf(domain);
  const place = { verdictId: review.verdictId, run: 1, cause: "review" } as const;
  const evidence = buildEvidence({
    ...place,
    ...subjectOf(verdictCase),
    decision: review.decision,
    score: null,
    confidence: null,
    mdi: null,
    methodology: { panelVersion: null, promptHash: null, models: {}, thresholds },
    rulesFired: [],
    checks: [],
    findings: [],
    fabricationRisk: null,
    review,
    evaluatedAt: at.toISOString(),
  });
  const result: VerdictResult = {
    final_verdict: review.decision,
    final_score: null,
    confidence: null,
    mdi: null,
    domain,
    met_criteria: [],
    unmet_criteria: [],
    key_objections: [],
    reasoning: review.reason,
    strongest_dissent: null,
    generator_majority: null,
    critic_override_applied: false,
    zero_history_adjustment_applied: false,
    rejection_asymmetry_applied: false,
    latency_ms: null,
    findings: [],
    methodology: { panel_version: null, prompt_hash: null, models: {}, thresholds, rules_fired: [] },
    review: reviewOf(review),
  };
  return { ...place, result, evidence, at };
}

function reviewOf({ reviewedBy, reason }: Review): VerdictResult["review"] {
  return { reviewed_by: reviewedBy, reason };
}

/** Only storeDecision writes the column, and with this type. */
function resultOf({ result }: DecisionRow): VerdictResult {
  return result as VerdictResult;
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

/** A verdict in the list for reviewers. */
export type HeldVerdict = {
  readonly id: string;
  /** failed: the panel made no decision on a job's output. */
  readonly state: "HOLD" | "failed";
  readonly specHash: Hex;
  /** When it became HOLD, or failed. */
  readonly since: Date;
  readonly job: { readonly chainId: number; readonly escrow: Address; readonly jobId: bigint } | null;
  /** Null without a held job. */
  readonly expiresAt: Date | null;
  readonly reviewBy: Date | null;
};

/** Verdicts that wait for a review, most urgent first, and their total. */
type HeldList = { readonly verdicts: readonly HeldVerdict[]; readonly total: number };

/**
 * Lists verdicts on HOLD without an ended job, and failed ones of jobs. Verdicts of jobs come first, by expiry, then those of jobs without
 * a running clock, then the rest, each by waiting time. At most `limit`, or all if it is null.
 */
export async function listHeldVerdicts(db: Database, limit: number | null): Promise<HeldList> {
  const { rows } = await db.$client.query<HeldRow>(
    `select v.id, s.spec_hash, v.final_verdict is null as is_failed, coalesce(v.evaluated_at, v.updated_at) as since,
       v.job_chain_id, v.job_escrow, v.job_id, h.expires_at, h.review_by,
       count(*) over ()::int as total
     from ahs.verdict v
     join ahs.job_spec s on s.id = v.spec_id
     left join ahs.hold_clock h on h.verdict_id = v.id
     where (v.final_verdict = 'HOLD' or (v.status = 'failed' and v.runs = 0 and v.job_id is not null))
       and v.replaced_at is null and h.ended_at is null
     order by v.job_id is null, h.expires_at nulls last, since, v.id limit $1`,
    [limit],
  );
  return { verdicts: rows.map(heldOf), total: rows[0]?.total ?? 0 };
}

type HeldRow = {
  readonly id: string;
  readonly spec_hash: Hex;
  readonly is_failed: boolean;
  readonly since: Date;
  readonly job_chain_id: number | null;
  readonly job_escrow: Address | null;
  readonly job_id: string | null;
  readonly expires_at: Date | null;
  readonly review_by: Date | null;
  readonly total: number;
};

function heldOf(row: HeldRow): HeldVerdict {
  return {
    id: row.id,
    state: row.is_failed ? "failed" : "HOLD",
    specHash: row.spec_hash,
    since: row.since,
    job:
      row.job_chain_id === null || row.job_escrow === null || row.job_id === null
        ? null
        : { chainId: row.job_chain_id, escrow: row.job_escrow, jobId: BigInt(row.job_id) },
    expiresAt: row.expires_at,
    reviewBy: row.review_by,
  };
}
