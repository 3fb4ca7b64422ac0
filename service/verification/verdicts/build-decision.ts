import { buildEvidence, cutFinding, cutSentence } from "../panel/evidence-document.ts";
import { elideCopies } from "../panel/quotes.ts";
import type { PanelOutcome } from "../panel/types.ts";
import type { NewDecision } from "./store-decision.ts";
import type { VerdictCase } from "./verdict-cases.ts";
import type { VerdictResult } from "./verdict-result.ts";

export type Decided = Extract<PanelOutcome, { kind: "decided" }>;

/** Builds the rows of a panel decision: the result for readers, and the evidence with its hash. */
export function buildDecision(
  outcome: Decided,
  of: {
    run: Pick<NewDecision, "verdictId" | "run" | "cause"> & { startedAt: Date; evaluatedAt: Date };
    verdictCase: VerdictCase;
  },
) {
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
    appealed: cause === "appeal" ? of.verdictCase.appealed : null,
    checks: outcome.checks,
    findings: outcome.findings,
    fabricationRisk: outcome.fabricationRisk,
    review: null,
    evaluatedAt: evaluatedAt.toISOString(),
  });
  const result = resultOf(outcome, { verdictCase: of.verdictCase, latencyMs });
  return { verdictId, run, cause, result, evidence, at: evaluatedAt } satisfies NewDecision;
}

/** Subject of a decision, as its evidence names it. */
export function subjectOf({ job, specHash, outputHash, evidenceHashes }: VerdictCase) {
  return { job, specHash, outputHash, evidenceHashes };
}

function resultOf(
  outcome: Decided,
  { verdictCase, latencyMs }: { verdictCase: VerdictCase; latencyMs: number },
) {
  const { decision, methodology } = outcome;
  return {
    final_verdict: decision.verdict,
    final_score: decision.finalScore,
    confidence: decision.confidence,
    mdi: decision.mdi,
    domain: verdictCase.domain,
    met_criteria: outcome.metCriteria,
    unmet_criteria: outcome.unmetCriteria,
    ...publicTexts(outcome, verdictCase),
    generator_majority: decision.generatorMajority,
    critic_override_applied: decision.criticOverrideApplied,
    zero_history_adjustment_applied: decision.zeroHistoryAdjustmentApplied,
    rejection_asymmetry_applied: decision.rejectionAsymmetryApplied,
    latency_ms: latencyMs,
    findings: outcome.findings.map(cutFinding),
    methodology: {
      panel_version: methodology.panelVersion,
      prompt_hash: methodology.promptHash,
      models: methodology.models,
      thresholds: methodology.thresholds,
      rules_fired: decision.rulesFired,
      voting: methodology.voting,
    },
    review: null,
  } satisfies VerdictResult;
}

/**
 * Public texts of the panel. Roles can be made to quote texts that only their owners may read, so passages of more than 200 characters from
 * the specification, the output or the evidence are cut. Criteria are public.
 */
function publicTexts(
  { keyObjections, reasoning, strongestDissent }: Decided,
  { texts }: VerdictCase,
): Pick<VerdictResult, "key_objections" | "reasoning" | "strongest_dissent"> {
  if (texts === null) throw new Error("a verdict was decided without its texts");
  const sources = [texts.outputText, texts.specText, ...texts.evidenceTexts];
  const shown = (...given: readonly string[]) => elideCopies(given, sources);
  return {
    key_objections: shown(...keyObjections).map(cutSentence),
    reasoning: shown(reasoning).join(""),
    strongest_dissent: strongestDissent === null ? null : shown(strongestDissent).join(""),
  };
}
