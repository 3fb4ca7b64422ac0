import { html } from "hono/html";
import { z } from "zod";
import { Problem } from "../../access/problems.ts";
import type { VerdictView } from "../../verification/verdicts/verdict-view.ts";
import type { ApiContext } from "../kit/api-env.ts";
import type { VerdictAnswer } from "../verification/verdict-schema.ts";
import { signedInKey } from "./account-cookie.ts";
import { askInterface, readForm, readRefusal } from "./ask-interface.ts";
import type { PageRuntime } from "./page.ts";
import { timeTag } from "./page-words.ts";
import { type Fragment, renderProse } from "./prose.ts";

/** The signed-in visitor of a verdict. */
export type Visitor = {
  readonly isSignedIn: boolean;
  /** Whether the visitor's key submitted the output. */
  readonly isSubmitter: boolean;
  readonly isReviewer: boolean;
  /** Whether the visitor's key submitted the output, or was bought by the wallet of the job's client or provider. */
  readonly mayAppeal: boolean;
  /** First line of the order, for the submitter; null for others, and after the texts were dropped. */
  readonly title: string | null;
};

const STRANGER: Visitor = {
  isSignedIn: false,
  isSubmitter: false,
  isReviewer: false,
  mayAppeal: false,
  title: null,
};

const selfSchema = z.object({ key_id: z.string(), bought_by: z.string().nullish() });
const textsSchema = z.object({ spec_text: z.string() });

export async function readVisitor(
  context: ApiContext,
  runtime: PageRuntime,
  { id, owner, clientAddr, providerAddr }: Pick<VerdictView, "id" | "owner" | "clientAddr" | "providerAddr">,
): Promise<Visitor> {
  const key = signedInKey(context, runtime);
  if (key === null) return STRANGER;
  const self = await askInterface(context, runtime, { method: "GET", path: "/keys/self", key });
  const { data } = selfSchema.safeParse(self.ok ? await self.json() : null);
  if (data === undefined) return STRANGER;
  const isSubmitter = owner === `key:${data.key_id}`;
  const [summary, texts] = await Promise.all([
    runtime.ports.account.keySummary(data.key_id),
    isSubmitter
      ? askInterface(context, runtime, { method: "GET", path: `/v1/verdicts/${id}/texts`, key })
      : null,
  ]);
  const wallet = data.bought_by?.toLowerCase();
  const order = textsSchema.safeParse(texts?.ok === true ? await texts.json() : null).data;
  return {
    isSignedIn: true,
    isSubmitter,
    mayAppeal: isSubmitter || wallet === clientAddr || wallet === providerAddr,
    isReviewer: summary?.scopes.includes("review") ?? false,
    title: order?.spec_text.split("\n").find((line) => line.trim() !== "") ?? null,
  };
}

/** Why a sent form had no effect. */
export type Refusal = { readonly status: 400 | 401 | 402 | 403 | 409 | 422; readonly words: string };

const ONCE = /^[A-Za-z0-9-]{8,64}$/;

/** Sends the evidence or the decision of a form to the interface, once for each form; null if it was taken. */
export async function sendVerdictForm(
  context: ApiContext,
  runtime: PageRuntime,
  id: string,
): Promise<Refusal | null> {
  const form = await readForm(context);
  const key = signedInKey(context, runtime);
  if (key === null) return { status: 401, words: "You are signed out. Sign in again." };
  const once = form.get("once") ?? "";
  if (!ONCE.test(once)) throw new Problem("request-malformed", "This form was not made by the page.");
  const sent = await askInterface(context, runtime, {
    method: "POST",
    key,
    headers: { "content-type": "application/json", "idempotency-key": once },
    ...requestOf(form, id),
  });
  if (sent.ok) return null;
  const { words } = await readRefusal(sent);
  const status = ([401, 402, 403, 409, 422] as const).find((one) => one === sent.status);
  if (status === undefined) throw new Problem("database-unavailable", words);
  return { status, words };
}

function requestOf(form: URLSearchParams, id: string): { readonly path: string; readonly body: string } {
  switch (form.get("action")) {
    case "evidence":
      return {
        path: `/v1/verdicts/${id}/evidence`,
        body: JSON.stringify({ text: form.get("text") ?? "", final: form.get("final") === "on" }),
      };
    case "appeal":
      return {
        path: `/v1/verdicts/${id}/appeal?${new URLSearchParams({ price_usd: form.get("price") ?? "" })}`,
        body: "{}",
      };
    case "review":
      return {
        path: `/v1/verdicts/${id}/review`,
        body: JSON.stringify({ decision: form.get("decision"), reason: form.get("reason") ?? "" }),
      };
    default:
      throw new Problem("request-malformed", "Unknown action of the form.");
  }
}

/** Statuses at which the HOLD of a job is over: evidence and reviews have no effect. */
const OVER: ReadonlySet<string> = new Set<NonNullable<VerdictAnswer["settlement"]>["status"]>([
  "settled",
  "expired_on_hold",
  "refused",
  "expired",
]);

/** Whether evidence can still start its one new run. */
function takesEvidence({ final_verdict, rerun, methodology, settlement }: VerdictAnswer): boolean {
  if (final_verdict !== "HOLD" || rerun !== null) return false;
  if (settlement !== null && OVER.has(settlement.status)) return false;
  return methodology?.runs.every(({ cause }) => cause !== "evidence") ?? false;
}

function takesReview({ status, final_verdict, settlement }: VerdictAnswer): boolean {
  if (settlement !== null && OVER.has(settlement.status)) return false;
  return final_verdict === "HOLD" || (status === "failed" && settlement !== null);
}

const MAX_EVIDENCE = 50_000;
const MAX_REASON = 2_000;

/** The forms that a visitor may send, and what the others can do. */
export function renderVerdictForms(
  verdict: VerdictAnswer,
  {
    visitor,
    refusal,
    once,
  }: { readonly visitor: Visitor; readonly refusal: Refusal | null; readonly once: string },
): Fragment | string {
  const { verdict_id: id } = verdict;
  const refused =
    refusal === null
      ? ""
      : html`<div class="notice alarm" role="alert"><p><b>The form was not accepted.</b> ${renderProse(refusal.words)}</p></div>`;
  const evidence = takesEvidence(verdict) ? renderEvidence(verdict, { visitor, once }) : "";
  const review = visitor.isReviewer && takesReview(verdict) ? renderReview(id, once) : "";
  const appeal = verdict.appeal?.status === "available" ? renderAppeal(verdict, { visitor, once }) : "";
  return html`${refused}${appeal}${evidence}${review}`;
}

function renderEvidence(
  { verdict_id: id, settlement }: VerdictAnswer,
  { visitor, once }: { readonly visitor: Visitor; readonly once: string },
): Fragment {
  const until = settlement?.review_by ?? null;
  const term = until === null ? "" : html` until <b>${timeTag(new Date(until))}</b>`;
  const expiry = until === null ? "" : " Without a decision the job expires, which pays the client back.";
  if (!visitor.isSubmitter)
    return html`<div class="notice warn"><p>The submitter, the client and the provider can submit evidence${term}. It is free and brings one new run.${expiry}</p>
<p class="small">${visitor.isSignedIn ? "" : html`<a href="/account?next=/verdict/${id}">Sign in</a> with the key that submitted the output. `}Wallets sign in to <code>POST /v1/verdicts/${id}/evidence</code>.</p></div>`;
  return html`<section class="panel" aria-labelledby="evidence"><h2 id="evidence">Submit evidence</h2>
<p>Evidence is free and brings one new run${term}. The panel reads it as data.${expiry}</p>
<form method="post" action="/verdict/${id}" data-once><input type="hidden" name="action" value="evidence"><input type="hidden" name="once" value="e-${once}">
<div class="field"><label for="text">Evidence, at most ${MAX_EVIDENCE.toLocaleString("en-GB")} characters</label><textarea id="text" name="text" rows="6" maxlength="${MAX_EVIDENCE}" required></textarea></div>
<label class="check"><input type="checkbox" name="final"> This is all of my evidence: start the new run without waiting</label>
<button class="button">Submit the evidence</button></form></section>`;
}

function renderAppeal(
  { verdict_id: id, appeal }: VerdictAnswer,
  { visitor, once }: { readonly visitor: Visitor; readonly once: string },
): Fragment | string {
  if (appeal === null) return "";
  const { price_usd } = appeal;
  const until = html` until <b>${timeTag(new Date(appeal.appeal_by))}</b>`;
  const price = `${price_usd.replace(/0$/, "")} USD`;
  if (!visitor.mayAppeal)
    return html`<div class="notice warn"><p>The submitter, the client and the provider can appeal this decision${until}. A second panel, of another model, then decides anew for ${price}. Without an appeal the decision is settled.</p>
<p class="small">${visitor.isSignedIn ? "" : html`<a href="/account?next=/verdict/${id}">Sign in</a> with the key that submitted the output. `}Wallets pay <code>POST /v1/verdicts/${id}/appeal?price_usd=${price_usd}</code> by x402.</p></div>`;
  return html`<section class="panel" aria-labelledby="appeal"><h2 id="appeal">Appeal</h2>
<p>This decision can be appealed once${until}. A second panel, of another model, decides anew. If it decides the opposite, that takes the place of this decision, and you get the price back. After a HOLD of it this decision is settled. If it makes none in time, you get the price back too.</p>
<form method="post" action="/verdict/${id}" data-once><input type="hidden" name="action" value="appeal"><input type="hidden" name="price" value="${price_usd}"><input type="hidden" name="once" value="a-${once}">
<button class="button">Appeal for ${price}</button></form></section>`;
}

function renderReview(id: string, once: string): Fragment {
  return html`<section class="panel" aria-labelledby="review"><h2 id="review">Decide as a reviewer</h2>
<form method="post" action="/verdict/${id}" data-once><input type="hidden" name="action" value="review"><input type="hidden" name="once" value="r-${once}">
<fieldset><legend>Decision</legend><label class="check"><input type="radio" name="decision" value="ALLOW" required> ALLOW: the delivery matches the order</label>
<label class="check"><input type="radio" name="decision" value="REJECT"> REJECT: the delivery does not match the order</label></fieldset>
<div class="field"><label for="reason">Reason, which becomes part of the evidence</label><textarea id="reason" name="reason" rows="3" maxlength="${MAX_REASON}" required></textarea></div>
<button class="button">Record the decision</button></form></section>`;
}
