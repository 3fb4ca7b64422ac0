import { buildEvidence, type EvidenceParts } from "../panel/evidence-document.ts";
import type { PanelOutcome } from "../panel/types.ts";
import type { RunCause } from "../store/tables/verdict.ts";
import type { VerdictCase } from "../store/verdict-cases.ts";
import type { NewDecision } from "./store-decision.ts";
import type { VerdictResult } from "./types.ts";

/** An outcome of the panel that decides. */
export type Decided = Extract<PanelOutcome, { kind: "decided" }>;

/** Which run of which verdict was decided, and when. */
export type DecidedRun = {
  readonly verdictId: string;
  readonly run: number;
  readonly cause: RunCause;
  readonly startedAt: Date;
  readonly evaluatedAt: Date;
};

/** The rows that a decision of the panel becomes: what readers get, and the evidence with its hash. */
export function buildDecision(
  outcome: Decided,
  of: { readonly run: DecidedRun; readonly verdictCase: VerdictCase },
): NewDecision {
  const { verdictId, run, cause, startedAt, evaluatedAt } = of.run;
  const { decision, methodology } = outcome;
  const latencyMs = Math.max(0, evaluatedAt.getTime() - startedAt.getTime());
  const evidence = buildEvidence({
    verdictId,
    run,
    cause,
    ...subjectOf(of.verdictCase),
    decision: decision.verdict,
    score: decision.finalScore,
    confidence: decision.confidence,
    mdi: decision.mdi,
    methodology,
    rulesFired: decision.rulesFired,
    checks: outcome.checks,
    findings: outcome.findings,
    fabricationRisk: outcome.fabricationRisk,
    review: null,
    evaluatedAt: evaluatedAt.toISOString(),
  });
  const result = resultOf(outcome, { domain: of.verdictCase.domain, latencyMs });
  return { verdictId, run, cause, result, evidence, at: evaluatedAt };
}

/** What a decision is about, as its evidence names it. */
export function subjectOf(
  verdictCase: VerdictCase,
): Pick<EvidenceParts, "job" | "specHash" | "outputHash" | "evidenceHashes"> {
  const { job, specHash, outputHash, evidenceHashes } = verdictCase;
  return { job, specHash, outputHash, evidenceHashes };
}

function resultOf(
  outcome: Decided,
  { domain, latencyMs }: { readonly domain: string; readonly latencyMs: number },
): VerdictResult {
  const { decision, methodology } = outcome;
  return {
    final_verdict: decision.verdict,
    final_score: decision.finalScore,
    confidence: decision.confidence,
    mdi: decision.mdi,
    domain,
    met_criteria: outcome.metCriteria,
    unmet_criteria: outcome.unmetCriteria,
    key_objections: outcome.keyObjections,
    reasoning: outcome.reasoning,
    strongest_dissent: outcome.strongestDissent,
    generator_majority: decision.generatorMajority,
    critic_override_applied: decision.criticOverrideApplied,
    zero_history_adjustment_applied: decision.zeroHistoryAdjustmentApplied,
    rejection_asymmetry_applied: decision.rejectionAsymmetryApplied,
    latency_ms: latencyMs,
    findings: outcome.findings,
    methodology: {
      panel_version: methodology.panelVersion,
      prompt_hash: methodology.promptHash,
      models: methodology.models,
      thresholds: methodology.thresholds,
      rules_fired: decision.rulesFired,
    },
    review: null,
  };
}
