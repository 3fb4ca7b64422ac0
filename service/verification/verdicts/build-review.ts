import { z } from "zod";
import { buildEvidence } from "../panel/evidence-document.ts";
import { thresholdOf } from "../panel/thresholds.ts";
import type { Decision, OutputCheck } from "../panel/types.ts";
import { subjectOf } from "./build-decision.ts";
import type { NewDecision } from "./store-decision.ts";
import type { VerdictResult } from "./types.ts";
import type { VerdictCase } from "./verdict-cases.ts";
import type { DecisionRow } from "./verdict-runs.ts";

/** What a reviewer decides on a verdict. */
export type Review = {
  readonly verdictId: string;
  readonly decision: Exclude<Decision, "HOLD">;
  readonly reason: string;
  /** Who decided, as the evidence names them. */
  readonly reviewedBy: string;
};

/** A review, what it is about, and when it was made. */
export type Reviewed = {
  readonly review: Review;
  readonly verdictCase: VerdictCase;
  readonly at: Date;
};

/** The rows that a review of a held verdict becomes: score, findings and checks are the panel's. */
export function reviewHeld(held: DecisionRow, { review, verdictCase, at }: Reviewed): NewDecision {
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
    ...heldEvidence.parse(JSON.parse(held.evidence)),
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
export function reviewFailed({ review, verdictCase, at }: Reviewed): NewDecision {
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
const heldEvidence = z
  .object({
    checks: z.array(z.object({ name: z.string(), finding: z.string(), criterion: z.string().nullable() })),
    fabrication_risk: z.enum(["none", "low", "medium", "high"]).nullable(),
  })
  .transform(({ checks, fabrication_risk }) => ({
    // buildEvidence alone writes these names, and takes no others.
    checks: checks as readonly OutputCheck[],
    fabricationRisk: fabrication_risk,
  }));
