import { numberToHex } from "viem";
import { DECISION_CODES } from "../../verification/escrow/types.ts";
import type { Decision } from "../../verification/panel/types.ts";
import type { SettlementView } from "../../verification/verdicts/settlement-view.ts";
import type { VerdictResult } from "../../verification/verdicts/types.ts";
import type { VerdictView } from "../../verification/verdicts/verdict-view.ts";
import { toEip55 } from "../schemas/values.ts";
import type { VerdictAnswer } from "./verdict-schema.ts";

type Settlement = NonNullable<VerdictAnswer["settlement"]>;
type Methodology = NonNullable<VerdictAnswer["methodology"]>;
type Result = Omit<
  VerdictAnswer,
  "verdict_id" | "status" | "error_message" | "rerun" | "spec_hash" | "output_hash" | "settlement"
>;

const NO_RESULT: Result = {
  final_verdict: null,
  final_score: null,
  confidence: null,
  mdi: null,
  on_chain_action: null,
  domain: null,
  met_criteria: null,
  unmet_criteria: null,
  key_objections: null,
  reasoning: null,
  strongest_dissent: null,
  generator_majority: null,
  critic_override_applied: null,
  zero_history_adjustment_applied: null,
  rejection_asymmetry_applied: null,
  latency_ms: null,
  evaluated_at: null,
  findings: null,
  methodology: null,
  evidence_hash: null,
};

/** A verdict as its answer shows it: the result only while its status is `completed`. */
export function renderVerdict(view: VerdictView): VerdictAnswer {
  return {
    verdict_id: view.id,
    status: view.status,
    ...(view.status === "completed" ? resultOf(view) : NO_RESULT),
    error_message: view.status === "failed" ? view.errorMessage : null,
    rerun: view.rerun === null ? null : { ...view.rerun },
    spec_hash: view.specHash,
    output_hash: view.outputHash,
    settlement: settlementOf(view),
  };
}

/** What a decision means for a job's escrow. */
function onChainAction(decision: Decision): NonNullable<VerdictAnswer["on_chain_action"]> {
  switch (decision) {
    case "ALLOW":
      return "complete";
    case "HOLD":
      return "hold_pending_review";
    case "REJECT":
      return "reject";
  }
}

function resultOf(view: VerdictView): Result {
  const { result } = view;
  const newest = view.runs.at(-1);
  if (result === null || newest === undefined)
    throw new Error(`verdict ${view.id} is completed and has no decision`);
  return {
    final_verdict: result.final_verdict,
    final_score: result.final_score,
    confidence: result.confidence,
    mdi: result.mdi,
    on_chain_action: onChainAction(result.final_verdict),
    domain: result.domain,
    met_criteria: [...result.met_criteria],
    unmet_criteria: [...result.unmet_criteria],
    key_objections: [...result.key_objections],
    reasoning: result.reasoning,
    strongest_dissent: result.strongest_dissent,
    generator_majority: result.generator_majority,
    critic_override_applied: result.critic_override_applied,
    zero_history_adjustment_applied: result.zero_history_adjustment_applied,
    rejection_asymmetry_applied: result.rejection_asymmetry_applied,
    latency_ms: result.latency_ms,
    evaluated_at: newest.createdAt.toISOString(),
    findings: result.findings.map((finding) => ({
      ...finding,
      criteria: finding.criteria.map((one) => ({ ...one })),
      objections: [...finding.objections],
    })),
    methodology: methodologyOf(result, view),
    evidence_hash: newest.evidenceHash,
  };
}

function methodologyOf({ methodology, review }: VerdictResult, { runs }: VerdictView): Methodology {
  return {
    panel_version: methodology.panel_version,
    prompt_hash: methodology.prompt_hash,
    models: { ...methodology.models },
    thresholds: { ...methodology.thresholds },
    rules_fired: [...methodology.rules_fired],
    runs: runs.map((run) => ({
      run: run.run,
      cause: run.cause,
      final_verdict: run.finalVerdict,
      evidence_hash: run.evidenceHash,
      evaluated_at: run.createdAt.toISOString(),
    })),
    reviewed_by: review?.reviewed_by ?? null,
    review_reason: review?.reason ?? null,
  };
}

const UNBOUND =
  "When the output was accepted, the specification was not bound to this job: neither the job's description nor a SpecBinding of its client, registered in time, made it the job's.";
const NO_ESCROW = "The specification names a job without its chain and escrow, so it binds nothing.";

function settlementOf({ namedJob, settlement }: VerdictView): Settlement | null {
  if (namedJob === null) return null;
  const { chainId, escrow, jobId } = namedJob;
  const job = {
    chain_id: chainId,
    escrow: escrow === null ? null : toEip55(escrow),
    job_id: numberToHex(jobId),
  };
  if (settlement === null) {
    const reason = escrow === null ? NO_ESCROW : UNBOUND;
    return { ...job, status: "unbound", tx_hash: null, review_by: null, reason, signed: null };
  }
  return {
    ...job,
    status: settlement.status,
    tx_hash: settlement.txHash,
    review_by: settlement.reviewBy?.toISOString() ?? null,
    reason: settlement.reason,
    signed: signedOf(settlement),
  };
}

/** As the evaluator takes it. */
function signedOf({ escrow, jobId, signed }: SettlementView): Settlement["signed"] {
  if (signed === null) return null;
  return {
    verdict: {
      escrow: toEip55(escrow),
      job_id: numberToHex(jobId),
      deliverable: signed.deliverable,
      spec_hash: signed.specHash,
      decision: DECISION_CODES[signed.decision],
      score: signed.score,
      confidence_bps: signed.confidenceBps,
      evidence_hash: signed.evidenceHash,
      issued_at: signed.issuedAt,
      deadline: signed.deadline,
    },
    signature: signed.signature,
    evaluator: toEip55(signed.evaluator),
    signer: toEip55(signed.signer),
  };
}
