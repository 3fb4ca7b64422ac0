import { hash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { numberToHex } from "viem";
import { usd } from "../../access/access.ts";
import { DECISION_CODES } from "../../verification/escrow/types.ts";
import type { Decision } from "../../verification/panel/types.ts";
import type { VerdictResult } from "../../verification/verdicts/verdict-result.ts";
import type { SettlementView, VerdictView } from "../../verification/verdicts/verdict-view.ts";
import { answer, namesVersion } from "../kit/answer.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { defineFree } from "../kit/endpoint.ts";
import { toEip55 } from "../schemas/values.ts";
import type { VerdictNeeds } from "./require-verdict.ts";
import { requireVerdict } from "./require-verdict.ts";
import { type VerdictAnswer, verdictParams, verdictSchema } from "./verdict-schema.ts";

type Settlement = NonNullable<VerdictAnswer["settlement"]>;
type Result = Omit<
  VerdictAnswer,
  | "verdict_id"
  | "status"
  | "error_message"
  | "progress"
  | "rerun"
  | "appeal"
  | "spec_hash"
  | "output_hash"
  | "settlement"
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

/** Renders a verdict. It has a result only if its status is `completed`. */
export function renderVerdict(view: VerdictView): VerdictAnswer {
  return {
    verdict_id: view.id,
    status: view.status,
    ...(view.status === "completed" ? resultOf(view) : NO_RESULT),
    error_message: view.status === "failed" ? view.errorMessage : null,
    progress: view.progress === null ? null : view.progress.map((role) => ({ ...role })),
    rerun: view.rerun === null ? null : { ...view.rerun },
    appeal: appealOf(view),
    spec_hash: view.specHash,
    output_hash: view.outputHash,
    settlement: settlementOf(view),
  };
}

/** Action of a decision at a job's escrow. */
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
  const newest = view.runs.find(({ run }) => run === view.run);
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

function methodologyOf(
  { methodology, review }: VerdictResult,
  { runs }: VerdictView,
): NonNullable<VerdictAnswer["methodology"]> {
  return {
    panel_version: methodology.panel_version,
    prompt_hash: methodology.prompt_hash,
    models: { ...methodology.models },
    thresholds: { ...methodology.thresholds },
    rules_fired: [...methodology.rules_fired],
    voting: methodology.voting ?? null,
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

function appealOf({ appeal, settlement }: VerdictView): VerdictAnswer["appeal"] {
  if (appeal === null) return null;
  const { state, run, appellant, appealBy, decideBy, units } = appeal;
  // An unpaid appeal is not shown.
  const isWaiting = state === "window" || state === "unsettled";
  const waiting = settlement?.status === "appealable" ? "available" : "not_appealed";
  return {
    status: isWaiting ? waiting : state,
    appealed_run: run,
    appeal_by: appealBy.toISOString(),
    decide_by: decideBy.toISOString(),
    price_usd: usd(units),
    by: isWaiting ? null : appellant,
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

/** In the form of the evaluator. */
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

/** GET /v1/verdicts/{verdict_id}. */
export const getVerdict = defineFree<VerdictNeeds>()({
  method: "get",
  path: "/v1/verdicts/{verdict_id}",
  operationId: "get_verdict",
  tool: "Returns a verdict on an output: ALLOW, HOLD or REJECT with scores, met and unmet criteria, or its status while it is being decided. HOLD means that evidence is missing; it is not a rejection.",
  tag: "Verdicts",
  summary: "A verdict on a delivered output",
  description:
    "Free, for every caller who knows the id. Poll it every second or two until the status is `completed` or `failed`, or give the output a `webhook_url`. A completed verdict carries an `ETag`: with it in `If-None-Match` the answer is 304 until something changes. Its settlement, a HOLD, and a decision that is appealed can still change. `settlement.signed` holds the signature for a job's escrow: anyone may submit it to the evaluator.",
  request: { params: verdictParams, query: z.object({}), body: null },
  answer: { schema: verdictSchema, description: "The verdict" },
  alternatives: { 304: { description: "Unchanged since the ETag in If-None-Match" } },
  headers: { "If-None-Match": "ETags that the caller holds: 304 where one of them is current" },
  problems: ["not-found", "database-unavailable", "internal"],
  async respond(context, { params }, { deps }) {
    const verdict = renderVerdict(await requireVerdict(params.verdict_id, deps));
    const body = JSON.stringify(verdict);
    return verdict.status === "completed" ? answerTagged(context, body) : answerFresh(context, body);
  },
});

/** The id alone gives access, so shared caches may not store a response. */
const REVALIDATED = { "cache-control": "private, no-cache" } as const;

function answerTagged(context: ApiContext, body: string): Response {
  const version = hash("sha256", body, "base64url");
  const headers = { etag: `"${version}"`, ...REVALIDATED };
  if (namesVersion(context.req.header("if-none-match"), version))
    return answer(context, { status: 304, body: null, headers });
  return answer(context, { status: 200, body, headers: { "content-type": "application/json", ...headers } });
}

function answerFresh(context: ApiContext, body: string): Response {
  const headers = { "content-type": "application/json", "cache-control": "private, no-store" };
  return answer(context, { status: 200, body, headers });
}
