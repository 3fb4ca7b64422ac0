import { html } from "hono/html";
import type { VerdictAnswer } from "../verification/verdict-schema.ts";
import { percentWords, timeTag } from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { firstOf, strangeText } from "./strange-text.ts";
import {
  causeWords,
  decisionWords,
  roleName,
  ruleWords,
  settlementWords,
  withRoleNames,
} from "./verdict-words.ts";

type Finding = NonNullable<VerdictAnswer["findings"]>[number];
type Methodology = NonNullable<VerdictAnswer["methodology"]>;
type Settlement = NonNullable<VerdictAnswer["settlement"]>;

/** Characters of one text of a model, a specification or a reviewer, and entries of one list. */
const MOST = { passage: 4_000, line: 400, name: 80, items: 40 } as const;

/** A verdict with a decision: what it is, why, how it came about, how to check it, and what it moved on chain. */
export function renderDecision(verdict: VerdictAnswer): Fragment {
  const { final_verdict: decision, findings, methodology, settlement } = verdict;
  if (decision === null || methodology === null)
    throw new Error(`verdict ${verdict.verdict_id} is completed and has no decision`);
  return html`<h1 class="decision decision-${decision}">${decision}</h1>
<p class="lead">${decisionWords(decision)}</p>
${takesEvidence(verdict) ? renderEvidenceCall(verdict) : ""}
${renderRerun(verdict)}
${renderFigures(verdict)}
${renderReasons(verdict, methodology)}
${renderFindings(findings ?? [])}
${renderMethod(methodology)}
${settlement === null ? "" : renderSettlement(settlement)}
${renderProof(verdict)}`;
}

/** Where a hold is over for its job, evidence changes nothing any more. */
const OVER: ReadonlySet<string> = new Set<Settlement["status"]>([
  "settled",
  "expired_on_hold",
  "refused",
  "expired",
]);

/** Whether the one new run that evidence brings is still to be had. */
function takesEvidence({ final_verdict, rerun, methodology, settlement }: VerdictAnswer): boolean {
  if (final_verdict !== "HOLD" || rerun !== null) return false;
  if (settlement !== null && OVER.has(settlement.status)) return false;
  return methodology?.runs.every(({ cause }) => cause !== "evidence") ?? false;
}

/** Who may still change a HOLD, by what, and until when. */
function renderEvidenceCall({ verdict_id: id, settlement }: VerdictAnswer): Fragment {
  const until = settlement?.review_by ?? null;
  return html`<div class="notice warn"><p>${until === null ? "Evidence may be handed in" : html`Until <b>${timeTag(new Date(until))}</b> evidence may be handed in`} by whoever submitted the output, and by the client and the provider, who sign in with their wallets.</p>
<p class="small">It goes to <code>POST /v1/verdicts/${id}/evidence</code>, is free, and brings one new run.${until === null ? "" : " A HOLD that is left alone ends with the job's expiry, which pays the client back."}</p></div>`;
}

function renderRerun({ rerun }: VerdictAnswer): Fragment | string {
  if (rerun === null) return "";
  return html`<p class="notice">It is being judged again, because ${causeWords(rerun.cause)}. Until there is a new decision, this one stands.</p>`;
}

function renderFigures({ final_score, confidence, mdi, evaluated_at, latency_ms }: VerdictAnswer): Fragment {
  const took = latency_ms === null ? "" : `, after ${(latency_ms / 1_000).toFixed(1)} s of judging`;
  return html`<dl class="stats">
${renderFigure("Score", final_score === null ? "none" : `${final_score} of 100`)}
${renderFigure("Confidence", confidence === null ? "none" : percentWords(confidence))}
${renderFigure("Disagreement", mdi === null ? "none" : `${mdi.toFixed(2)} of 1`)}
</dl>
${evaluated_at === null ? "" : html`<p class="quiet">Decided on ${timeTag(new Date(evaluated_at))}${took}.</p>`}`;
}

function renderFigure(name: string, value: string): Fragment {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

function renderReasons(verdict: VerdictAnswer, { reviewed_by, review_reason }: Methodology): Fragment {
  const { reasoning, met_criteria, unmet_criteria, key_objections, strongest_dissent } = verdict;
  return html`<section class="panel" aria-labelledby="why"><h2 id="why">Why</h2>
${reviewed_by === null ? "" : html`<p>Decided by the reviewer <strong>${strangeText(reviewed_by, MOST.name)}</strong>, with the reason:</p>${renderPassage(review_reason ?? "none given")}`}
<p class="quiet">In the panel's words, which quote the order and the output:</p>
${renderPassage(reasoning ?? "")}
${renderList("Criteria that are met", met_criteria ?? [], "met")}
${renderList("Criteria that are not met", unmet_criteria ?? [], "unmet")}
${renderList("Objections", key_objections ?? [], "objections")}
${strongest_dissent === null || strongest_dissent === "" ? "" : html`<h3>Strongest dissent</h3>${renderPassage(withRoleNames(strongest_dissent))}`}
</section>`;
}

function renderPassage(text: string): Fragment {
  return html`<blockquote class="strange"><bdi>${strangeText(text, MOST.passage)}</bdi></blockquote>`;
}

function renderList(title: string, items: readonly string[], kind: string): Fragment | string {
  const { shown, left } = firstOf(items, MOST.items);
  if (shown.length === 0) return "";
  return html`<h3>${title}</h3>
<ul class="strange ${kind}">${shown.map((item) => html`<li><bdi>${strangeText(item, MOST.line)}</bdi></li>`)}${left === 0 ? "" : html`<li>and ${left} more</li>`}</ul>`;
}

function renderFindings(findings: readonly Finding[]): Fragment | string {
  if (findings.length === 0) return "";
  return html`<section class="panel" aria-labelledby="roles"><h2 id="roles">What each role found</h2>
${findings.map(renderFinding)}
</section>`;
}

function renderFinding({
  role,
  verdict,
  score,
  confidence,
  criteria,
  objections,
  abstained,
}: Finding): Fragment {
  const { shown, left } = firstOf(criteria, MOST.items);
  const vote = abstained === null ? (verdict ?? "no vote") : "abstained";
  const sure = confidence === null ? null : `${percentWords(confidence)}\u00a0sure`;
  const said = [score === null ? null : `${score} of 100`, sure].filter((part) => part !== null);
  const figures = said.length === 0 ? "" : html`<span class="quiet">, ${said.join(", ")}</span>`;
  return html`<details class="role">
<summary>${roleName(role)}: <strong>${vote}</strong>${figures}</summary>
${abstained === null ? "" : html`<p>It gave no answer that counts: ${strangeText(abstained, MOST.line)}</p>`}
${shown.length === 0 ? "" : html`<ul class="strange">${shown.map(({ id, met, evidence }) => html`<li><strong>${strangeText(id, MOST.name)}</strong> ${metWord(met)}${evidence === "" ? "" : html`: <bdi>${strangeText(evidence, MOST.line)}</bdi>`}</li>`)}${left === 0 ? "" : html`<li>and ${left} more</li>`}</ul>`}
${renderList("Objections", objections, "objections")}
${shown.length + objections.length === 0 && abstained === null ? html`<p class="quiet">Nothing to add.</p>` : ""}
</details>`;
}

function metWord(met: boolean | null): string {
  if (met === null) return "cannot be told";
  return met ? "is met" : "is not met";
}

function renderMethod({
  panel_version,
  prompt_hash,
  models,
  thresholds,
  rules_fired,
  runs,
}: Methodology): Fragment {
  const named = firstOf(Object.entries(models), MOST.items).shown;
  return html`<section class="panel" aria-labelledby="how"><h2 id="how">How it was decided</h2>
<p>Models give votes and reasons; code alone makes the decision, and in doubt it is HOLD.</p>
${rules_fired.length === 0 ? html`<p>No rule changed what the votes came to.</p>` : html`<p>Rules that changed what the votes came to:</p><ul>${rules_fired.map((rule) => html`<li>${ruleWords(strangeText(rule, MOST.name))}</li>`)}</ul>`}
<dl class="facts">
${panel_version === null ? "" : html`<dt>Panel</dt><dd>${strangeText(panel_version, MOST.name)}</dd>`}
<dt>Confidence asked for</dt><dd>${percentWords(thresholds.confidence)}, domain ${strangeText(thresholds.domain, MOST.name)}</dd>
${named.length === 0 ? "" : html`<dt>Models</dt><dd>${[...new Set(named.map(([, model]) => strangeText(model, MOST.name)))].join(", ")}</dd>`}
${prompt_hash === null ? "" : html`<dt>Prompts</dt><dd><code class="mono">${prompt_hash}</code></dd>`}
</dl>
${runs.length < 2 ? "" : html`<h3>Decisions so far</h3><ol>${firstOf(runs, MOST.items).shown.map(({ final_verdict, cause, evaluated_at }) => html`<li><strong>${final_verdict}</strong>, ${timeTag(new Date(evaluated_at))}: ${causeWords(cause)}</li>`)}</ol>`}
</section>`;
}

function renderSettlement({
  status,
  chain_id,
  escrow,
  job_id,
  tx_hash,
  review_by,
  reason,
}: Settlement): Fragment {
  return html`<section class="panel" aria-labelledby="chain"><h2 id="chain">On chain</h2>
<p>${settlementWords(status)}${reason === null ? "" : html` <bdi>${strangeText(reason, MOST.line)}</bdi>`}</p>
<dl class="facts">
${escrow === null ? "" : html`<dt>Escrow</dt><dd><code class="mono">${escrow}</code>${chain_id === null ? "" : `, chain ${chain_id}`}</dd>`}
<dt>Job</dt><dd><code class="mono">${job_id}</code></dd>
${tx_hash === null ? "" : html`<dt>Transaction</dt><dd><code class="mono">${tx_hash}</code></dd>`}
${review_by === null ? "" : html`<dt>Review needed by</dt><dd>${timeTag(new Date(review_by))}</dd>`}
</dl></section>`;
}

function renderProof({ verdict_id: id, spec_hash, output_hash, evidence_hash }: VerdictAnswer): Fragment {
  return html`<section class="panel" aria-labelledby="proof"><h2 id="proof">Check it</h2>
<p>The evidence is a document of hashes, findings and rules. The keccak256 of its bytes is the hash below, and the reason that the escrow records.</p>
<dl class="facts">
<dt>Evidence</dt><dd><code class="mono">${evidence_hash ?? "none"}</code></dd>
<dt>Specification</dt><dd><code class="mono">${spec_hash}</code></dd>
<dt>Output</dt><dd><code class="mono">${output_hash}</code></dd>
</dl>
<ul class="actions"><li><a href="/v1/verdicts/${id}/evidence">Evidence</a></li><li><a href="/v1/verdicts/${id}/receipt">Signed receipt</a></li><li><a href="/v1/verdicts/${id}">Verdict as JSON</a></li><li><a href="/v1/docs">What it means</a></li></ul>
</section>`;
}
