import type { Hex } from "viem";
import { z } from "zod";
import { buildEvidence } from "../panel/evidence-document.ts";
import type { Decision, OutputCheck } from "../panel/types.ts";
import type { Database } from "../store/database.ts";
import { readVerdictCase } from "../store/verdict-cases.ts";
import { type DecisionRow, takeNewestDecision } from "../store/verdict-runs.ts";
import { subjectOf } from "./build-decision.ts";
import { storable } from "./storable.ts";
import { type NewDecision, storeDecision } from "./store-decision.ts";
import type { VerdictResult } from "./types.ts";

export type ReviewDeps = { readonly db: Database; readonly chainId: number; readonly now: () => Date };

/** What a reviewer decides on a held verdict. */
export type Review = {
  readonly verdictId: string;
  readonly decision: Exclude<Decision, "HOLD">;
  readonly reason: string;
  /** Who decided, as the evidence names them. */
  readonly reviewedBy: string;
};

/** not_held: the newest decision is not HOLD. undecided: there is none, or no such verdict. */
export type ReviewOutcome =
  | { readonly kind: "recorded"; readonly run: number; readonly evidenceHash: Hex }
  | { readonly kind: "not_held"; readonly finalVerdict: Decision }
  | { readonly kind: "undecided" };

/**
 * Stores a reviewer's decision on a held verdict as one of its own, with evidence that names reviewer and reason; score and findings
 * stay the panel's. A re-run that is due or under way then comes to nothing.
 */
export async function recordReview(deps: ReviewDeps, review: Review): Promise<ReviewOutcome> {
  return deps.db.transaction(async (tx) => {
    const held = await takeNewestDecision(tx, review.verdictId);
    if (held === null) return { kind: "undecided" };
    if (held.finalVerdict !== "HOLD") return { kind: "not_held", finalVerdict: held.finalVerdict };
    const decision = await reviewedDecision(deps, held, storable(review));
    await storeDecision(tx, decision);
    return { kind: "recorded", run: decision.run, evidenceHash: decision.evidence.hash };
  });
}

async function reviewedDecision(
  { db, chainId, now }: ReviewDeps,
  held: DecisionRow,
  { verdictId, decision, reason, reviewedBy }: Review,
): Promise<NewDecision> {
  const at = now();
  const verdictCase = await readVerdictCase(db, { verdictId, chainId });
  const panel = resultOf(held);
  const { panel_version, prompt_hash, models, thresholds, rules_fired } = panel.methodology;
  const place = { verdictId, run: held.run + 1, cause: "review" } as const;
  const evidence = buildEvidence({
    ...place,
    ...subjectOf(verdictCase),
    decision,
    score: panel.final_score,
    confidence: panel.confidence,
    mdi: panel.mdi,
    methodology: { panelVersion: panel_version, promptHash: prompt_hash, models, thresholds },
    rulesFired: rules_fired,
    findings: panel.findings,
    ...heldEvidence.parse(JSON.parse(held.evidence)),
    review: { reviewedBy, reason },
    evaluatedAt: at.toISOString(),
  });
  const result = { ...panel, final_verdict: decision, review: { reviewed_by: reviewedBy, reason } };
  return { ...place, result, evidence, at };
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
