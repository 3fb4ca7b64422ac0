import { html } from "hono/html";
import type { VerdictView } from "../../verification/verdicts/verdict-view.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { toEip55 } from "../schemas/values.ts";
import { renderVerdict } from "../verification/get-verdict.ts";
import { requireVerdict } from "../verification/require-verdict.ts";
import type { VerdictAnswer } from "../verification/verdict-schema.ts";
import { answerPrivatePage, type Page, type PageHandler, type PageRuntime, redirectTo } from "./page.ts";
import type { PagePorts } from "./page-ports.ts";
import {
  dollars,
  explorerLink,
  firstOf,
  percentWords,
  shortHex,
  strangeText,
  timeTag,
  walletLink,
} from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import {
  type Refusal,
  readVisitor,
  renderVerdictForms,
  sendVerdictForm,
  type Visitor,
} from "./verdict-forms.ts";
import {
  APPEALS,
  CAUSES,
  DECISIONS,
  headingOf,
  PROGRESS,
  ROLES,
  ruleWords,
  SETTLEMENTS,
  WAITING,
  withRoleNames,
} from "./verdict-words.ts";

/** Seconds between reloads of the browser, and their maximum number: ten minutes in all, then on request. */
const LOOK_SECONDS = 5;
const MOST_LOOKS = 120;
const MAX_REASON = 500;

/** GET and POST /verdict/{verdict_id}: one verdict, with a form for evidence and, for reviewers, for a decision. */
export const verdictPage: Page = {
  path: "/verdict/{verdict_id}",
  needs: "/v1/verdicts/{verdict_id}",
  get: (context, runtime) => show(context, runtime, null),
  post: act,
};

/** `refusal` says why a sent form had no effect. */
async function show(context: ApiContext, runtime: PageRuntime, refusal: Refusal | null): Promise<Response> {
  const view = await requireVerdict(context.req.param("verdict_id") ?? "", runtime.ports);
  const verdict = renderVerdict(view);
  const visitor = await readVisitor(context, runtime, view);
  const path = `/verdict/${verdict.verdict_id}`;
  const looks = isUnderWay(verdict) && refusal === null ? looksOf(context) : null;
  const again = looks === null || looks >= MOST_LOOKS ? null : `${path}?looks=${looks + 1}`;
  const page = {
    title: `${headingOf(verdict)} · verdict ${verdict.verdict_id.slice(0, 8)}`,
    path,
    body: html`${renderJob(view, { visitor, chain: runtime.ports.chain })}
${renderBody(verdict, { again, isStopped: isUnderWay(verdict) && again === null }, renderVerdictForms(verdict, { visitor, refusal, once: runtime.ports.account.randomId() }))}`,
  };
  return answerPrivatePage(context, page, {
    ...(refusal === null ? {} : { status: refusal.status }),
    ...(again === null ? {} : { headers: { refresh: `${LOOK_SECONDS}; url=${again}` } }),
  });
}

async function act(...[context, runtime]: Parameters<PageHandler>): Promise<Response> {
  const { id } = await requireVerdict(context.req.param("verdict_id") ?? "", runtime.ports);
  const refusal = await sendVerdictForm(context, runtime, id);
  return refusal === null
    ? redirectTo(context, `/verdict/${id}`, { status: 303 })
    : show(context, runtime, refusal);
}

const MAX_TITLE = 120;

/** The job with its parties; the first line of the order for the visitor who submitted the output. */
function renderJob(
  { clientAddr, providerAddr, namedJob }: VerdictView,
  { visitor, chain }: { readonly visitor: Visitor; readonly chain: PagePorts["chain"] },
): Fragment {
  const escrow = namedJob?.escrow ?? null;
  return html`<p class="eyebrow">${namedJob === null ? "Verdict on an output" : `Verdict on job ${namedJob.jobId}`}</p>
${visitor.title === null ? "" : html`<p class="lead"><bdi>${strangeText(visitor.title, MAX_TITLE)}</bdi></p>`}
<dl class="parties">
<div><dt>Client</dt><dd>${walletLink(clientAddr)}</dd></div>
<div><dt>Provider</dt><dd>${walletLink(providerAddr)}</dd></div>
${escrow === null ? "" : html`<div><dt>Escrow</dt><dd><span class="mono" title="${toEip55(escrow)}">${shortHex(toEip55(escrow))}</span>${explorerLink(chain, "address", toEip55(escrow))}</dd></div>`}
</dl>`;
}

/** Number of automatic reloads so far; null if the reader stopped them. */
function looksOf(context: ApiContext): number | null {
  const given = context.req.query("looks") ?? "0";
  return /^[0-9]{1,3}$/.test(given) ? Number(given) : null;
}

function isUnderWay(verdict: VerdictAnswer): boolean {
  return verdict.status === "pending" || verdict.status === "processing" || verdict.rerun !== null;
}

function renderBody(
  verdict: VerdictAnswer,
  looking: Parameters<typeof renderLooking>[1],
  forms: Fragment | string,
): Fragment {
  const { verdict_id: id, status } = verdict;
  return html`${status === "completed" ? renderDecision(verdict, forms) : html`${renderOpen(verdict, status)}${forms}`}
${renderLooking(id, looking)}`;
}

function renderOpen(verdict: VerdictAnswer, status: "pending" | "processing" | "failed"): Fragment {
  if (status === "failed")
    return html`<h1>${headingOf(verdict)}</h1>
<p class="lead">${strangeText(verdict.error_message ?? "The panel gave no reason.", MAX_REASON)}</p>
<p>This says nothing about the output. Its submitter can request up to three more runs with <code>POST /v1/verdicts/{verdict_id}/retry</code>. If a job waits for the verdict, a reviewer can decide.</p>
${renderHashes(verdict)}`;
  return html`<h1>${headingOf(verdict)}</h1>
<p class="lead">${WAITING[status]}</p>
${renderProgress(verdict)}
${renderHashes(verdict)}`;
}

function renderProgress({ progress }: VerdictAnswer): Fragment | string {
  if (progress === null) return "";
  return html`<section class="panel" aria-labelledby="progress"><h2 id="progress">Roles of the panel</h2>
<dl class="facts">
${progress.map(({ role, status }) => html`<dt>${ROLES[role]}</dt><dd>${PROGRESS[status]}</dd>`)}
</dl></section>`;
}

function renderHashes({ spec_hash, output_hash }: VerdictAnswer): Fragment {
  return html`<section class="panel" aria-labelledby="texts"><h2 id="texts">Texts under review</h2>
<dl class="facts">
<dt>Specification</dt><dd><code class="mono">${spec_hash}</code></dd>
<dt>Output</dt><dd><code class="mono">${output_hash}</code></dd>
</dl></section>`;
}

function renderLooking(
  id: string,
  { again, isStopped }: { again: string | null; isStopped: boolean },
): Fragment | string {
  if (again !== null)
    return html`<p class="notice" role="status">This page reloads every ${LOOK_SECONDS} seconds. <a href="/verdict/${id}?looks=stop">Stop</a>.</p>`;
  if (isStopped)
    return html`<p class="notice">This page does not reload by itself. <a href="/verdict/${id}">Reload</a>.</p>`;
  return "";
}

type Finding = NonNullable<VerdictAnswer["findings"]>[number];
type Voting = NonNullable<NonNullable<VerdictAnswer["methodology"]>["voting"]>;
type Settlement = NonNullable<VerdictAnswer["settlement"]>;

/** Limits for texts of models, specifications and reviewers, and for lists. */
const MOST = { passage: 4_000, line: 400, name: 80, items: 40 } as const;

function renderDecision(verdict: VerdictAnswer, forms: Fragment | string): Fragment {
  const { final_verdict: decision, findings, methodology, settlement } = verdict;
  if (decision === null || methodology === null)
    throw new Error(`verdict ${verdict.verdict_id} is completed and has no decision`);
  return html`<h1 class="decision decision-${decision}">${decision}</h1>
<p class="lead">${DECISIONS[decision]}</p>
${forms}
${renderRerun(verdict)}
${renderFigures(verdict)}
${renderReasons(verdict, methodology)}
${renderFindings(findings ?? [], methodology.voting)}
${renderMethod(methodology)}
${renderAppealed(verdict)}
${settlement === null ? "" : renderSettlement(settlement)}
${renderProof(verdict)}`;
}

function renderRerun(verdict: VerdictAnswer): Fragment | string {
  const { rerun } = verdict;
  if (rerun === null) return "";
  return html`<p class="notice">A new run is under way, because ${CAUSES[rerun.cause]}. This decision is valid until the new one.</p>
${renderProgress(verdict)}`;
}

function renderFigures({ final_score, confidence, mdi, evaluated_at, latency_ms }: VerdictAnswer): Fragment {
  const took = latency_ms === null ? "" : `, after ${(latency_ms / 1_000).toFixed(1)} s`;
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

function renderReasons(
  verdict: VerdictAnswer,
  { reviewed_by, review_reason }: NonNullable<VerdictAnswer["methodology"]>,
): Fragment {
  const { reasoning, met_criteria, unmet_criteria, key_objections, strongest_dissent } = verdict;
  return html`<section class="panel" aria-labelledby="why"><h2 id="why">Why</h2>
${reviewed_by === null ? "" : html`<p>Decided by the reviewer <strong>${strangeText(reviewed_by, MOST.name)}</strong>, with the reason:</p>${renderPassage(review_reason ?? "none given")}`}
<p class="quiet">The panel's reasoning, which quotes the order and the output:</p>
${renderPassage(withRoleNames(reasoning ?? ""))}
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

function renderFindings(findings: readonly Finding[], voting: Voting | null): Fragment | string {
  if (findings.length === 0) return "";
  return html`<section class="panel" aria-labelledby="roles"><h2 id="roles">Findings by role</h2>
${findings.map((finding) => renderFinding(finding, voting?.not_asked ?? []))}
</section>`;
}

function renderFinding(
  { role, verdict, score, confidence, criteria, objections, abstained }: Finding,
  notAsked: Voting["not_asked"],
): Fragment {
  const { shown, left } = firstOf(criteria, MOST.items);
  const isAsked = !notAsked.some((one) => one.role === role);
  const vote = abstained === null ? (verdict ?? "no vote") : isAsked ? "abstained" : "not asked";
  const sure = confidence === null ? null : `${percentWords(confidence)}\u00a0sure`;
  const said = [score === null ? null : `${score} of 100`, sure].filter((part) => part !== null);
  const figures = said.length === 0 ? "" : html`<span class="quiet">, ${said.join(", ")}</span>`;
  return html`<details class="role">
<summary>${ROLES[role]}: <strong>${vote}</strong>${figures}</summary>
${abstained === null ? "" : html`<p>${isAsked ? "No valid answer: " : ""}${strangeText(abstained, MOST.line)}</p>`}
${shown.length === 0 ? "" : html`<ul class="strange">${shown.map(({ id, met, evidence }) => html`<li><strong>${strangeText(id, MOST.name)}</strong> ${metWord(met)}${evidence === "" ? "" : html`: <bdi>${strangeText(evidence, MOST.line)}</bdi>`}</li>`)}${left === 0 ? "" : html`<li>and ${left} more</li>`}</ul>`}
${renderList("Objections", objections, "objections")}
${shown.length + objections.length === 0 && abstained === null ? html`<p class="quiet">Nothing to add.</p>` : ""}
</details>`;
}

function metWord(met: boolean | null): string {
  if (met === null) return "is unknown";
  return met ? "is met" : "is not met";
}

function renderMethod({
  panel_version,
  prompt_hash,
  models,
  thresholds,
  rules_fired,
  voting,
  runs,
}: NonNullable<VerdictAnswer["methodology"]>): Fragment {
  const named = firstOf(Object.entries(models), MOST.items).shown;
  return html`<section class="panel" aria-labelledby="how"><h2 id="how">How it was decided</h2>
<p>Models give votes and reasons. Code makes the decision; in doubt it is HOLD.</p>
${rules_fired.length === 0 ? html`<p>No rule changed the result of the votes.</p>` : html`<p>Rules that changed the result of the votes:</p><ul>${rules_fired.map((rule) => html`<li>${ruleWords(strangeText(rule, MOST.name))}</li>`)}</ul>`}
<dl class="facts">
${panel_version === null ? "" : html`<dt>Panel</dt><dd>${strangeText(panel_version, MOST.name)}</dd>`}
<dt>Required confidence</dt><dd>${percentWords(thresholds.confidence)}, domain ${strangeText(thresholds.domain, MOST.name)}</dd>
${named.length === 0 ? "" : html`<dt>Models</dt><dd>${[...new Set(named.map(([, model]) => strangeText(model, MOST.name)))].join(", ")}</dd>`}
${voting === null ? "" : renderVoting(voting)}
${prompt_hash === null ? "" : html`<dt>Prompts</dt><dd><code class="mono">${prompt_hash}</code></dd>`}
</dl>
${runs.length < 2 ? "" : html`<h3>Decisions so far</h3><ol>${firstOf(runs, MOST.items).shown.map(({ final_verdict, cause, evaluated_at }) => html`<li><strong>${final_verdict}</strong>, ${timeTag(new Date(evaluated_at))}: ${CAUSES[cause]}</li>`)}</ol>`}
</section>`;
}

function renderVoting({ effective_votes, money, second_model }: Voting): Fragment {
  const released = money?.released_usd ?? null;
  const worth = released === null ? "an unknown amount" : dollars(released);
  return html`<dt>Effective votes</dt><dd>${effective_votes.toFixed(2)}${second_model === null ? ", all of one model" : html`, the ${ROLES[second_model.role].toLowerCase()}’s of a second model`}</dd>
${money === null ? "" : html`<dt>An ALLOW pays</dt><dd>${worth}; above ${dollars(money.unanimous_above_usd)} it needs all four votes, above ${dollars(money.second_model_above_usd)} that of a second model</dd>`}`;
}

/** The appeal of a verdict; nothing without one, and while it can be made, since the form says so. */
function renderAppealed({ appeal }: VerdictAnswer): Fragment | string {
  if (appeal === null || appeal.status === "available") return "";
  const { status, by, appealed_run, appeal_by, decide_by } = appeal;
  return html`<section class="panel" aria-labelledby="appealed"><h2 id="appealed">Appeal</h2>
<p>${APPEALS[status]} <a href="/v1/appeals">All appeals</a></p>
<dl class="facts">
${by === null ? html`<dt>Could be appealed until</dt><dd>${timeTag(new Date(appeal_by))}</dd>` : html`<dt>Appealed</dt><dd>decision ${appealed_run}, by the ${by}</dd>`}
${status === "open" ? html`<dt>Decided by</dt><dd>${timeTag(new Date(decide_by))} at the latest</dd>` : ""}
</dl></section>`;
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
<p>${SETTLEMENTS[status]}${reason === null ? "" : html` <bdi>${strangeText(reason, MOST.line)}</bdi>`}</p>
<dl class="facts">
${escrow === null ? "" : html`<dt>Escrow</dt><dd><code class="mono">${escrow}</code>${chain_id === null ? "" : `, chain ${chain_id}`}</dd>`}
<dt>Job</dt><dd>${job_id === null ? "–" : html`${BigInt(job_id).toString()} <code class="mono quiet">${job_id}</code>`}</dd>
${tx_hash === null ? "" : html`<dt>Transaction</dt><dd><code class="mono">${tx_hash}</code></dd>`}
${review_by === null ? "" : html`<dt>Review needed by</dt><dd>${timeTag(new Date(review_by))}</dd>`}
</dl></section>`;
}

function renderProof({ verdict_id: id, spec_hash, output_hash, evidence_hash }: VerdictAnswer): Fragment {
  return html`<section class="panel" aria-labelledby="proof"><h2 id="proof">Verify it</h2>
<p>The evidence is a document of hashes, findings and rules. The keccak256 of its bytes is the hash below; the escrow records it as the reason.</p>
<dl class="facts">
<dt>Evidence</dt><dd><code class="mono">${evidence_hash ?? "none"}</code></dd>
<dt>Specification</dt><dd><code class="mono">${spec_hash}</code></dd>
<dt>Output</dt><dd><code class="mono">${output_hash}</code></dd>
</dl>
<ul class="actions"><li><a href="/v1/verdicts/${id}/evidence">Evidence</a></li><li><a href="/v1/verdicts/${id}/receipt">Signed receipt</a></li><li><a href="/v1/verdicts/${id}">Verdict as JSON</a></li><li><a href="/v1/docs">Documentation</a></li></ul>
</section>`;
}
