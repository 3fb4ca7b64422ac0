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

/** Whether a verdict of a job has failed without a decision and holds its slot; where so, it stays so until the transaction ends. */
async function takeFailedOfJob(tx: NodePgDatabase, verdictId: string): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select 1 from ahs.verdict
    where id = ${verdictId} and status = 'failed' and runs = 0 and job_id is not null and replaced_at is null for update`);
  return rows.length === 1;
}

type ReviewDeps = { readonly db: Database; readonly chainId: number; readonly now: () => Date };

/**
 * not_held: the newest decision is not HOLD. undecided: there is none, and the verdict is not a failed one of a job, or there is no
 * such verdict.
 */
export type ReviewOutcome =
  | { readonly kind: "recorded"; readonly run: number; readonly evidenceHash: Hex }
  | { readonly kind: "not_held"; readonly finalVerdict: Decision }
  | { readonly kind: "undecided" };

/**
 * Stores a reviewer's decision as one of its own, with evidence that names reviewer and reason: on a held verdict, whose score and
 * findings stay the panel's, or on a failed one of a job, which has neither. A re-run that is due or under way then comes to nothing.
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

/** What a reviewer decides on a verdict. */
export type Review = {
  readonly verdictId: string;
  readonly decision: Exclude<Decision, "HOLD">;
  readonly reason: string;
  /** Who decided, as the evidence names them. */
  readonly reviewedBy: string;
};

/** A review, what it is about, and when it was made. */
type Reviewed = {
  readonly review: Review;
  readonly verdictCase: VerdictCase;
  readonly at: Date;
};

/** The rows that a review of a held verdict becomes: score, findings and checks are the panel's. */
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
 * The rows that a review of a failed verdict becomes: it is the first decision, and rests on no score and no finding of the panel. Of
 * its methodology there are the thresholds of the domain alone.
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

/** storeDecision alone writes the column, and takes no other type. */
function resultOf({ result }: DecisionRow): VerdictResult {
  return result as VerdictResult;
}

/** What the evidence of the panel's decision holds and its result does not. */
const storedEvidence = z
  .object({
    checks: z.array(z.object({ name: z.string(), finding: z.string(), criterion: z.string().nullable() })),
    fabrication_risk: z.enum(["none", "low", "medium", "high"]).nullable(),
  })
  .transform(({ checks, fabrication_risk }) => ({
    // buildEvidence alone writes these names, and takes no others.
    checks: checks as readonly OutputCheck[],
    fabricationRisk: fabrication_risk,
  }));

/** A verdict that a reviewer may decide, as they see it in a list. */
export type HeldVerdict = {
  readonly id: string;
  /** failed: the panel came to no decision on a job's output. */
  readonly state: "HOLD" | "failed";
  readonly specHash: Hex;
  /** When it became HOLD, or failed. */
  readonly since: Date;
  readonly job: { readonly chainId: number; readonly escrow: Address; readonly jobId: bigint } | null;
  /** Null where no job is held. */
  readonly expiresAt: Date | null;
  readonly reviewBy: Date | null;
};

/** Verdicts that wait for a review in the order of their urgency, and how many there are in all. */
type HeldList = { readonly verdicts: readonly HeldVerdict[]; readonly total: number };

/**
 * Verdicts that are on HOLD and whose job, if there is one, was not seen to end, and failed ones of jobs: those of jobs first, by when
 * these expire, then those whose job's clock does not run, then those of no job, each by how long they wait. At most `limit`, all
 * where it is null.
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
