import { html } from "hono/html";
import type { ApiContext } from "../api-env.ts";
import { renderVerdict } from "../verification/render-verdict.ts";
import { requireVerdict } from "../verification/verdict-ports.ts";
import type { VerdictAnswer } from "../verification/verdict-schema.ts";
import { answerPrivatePage, type Page, type PageHandler } from "./page.ts";
import type { Fragment } from "./prose.ts";
import { strangeText } from "./strange-text.ts";
import { renderDecision } from "./verdict-decision.ts";
import { waitingWords } from "./verdict-words.ts";

/** Seconds until a browser looks again, and how often it does so by itself: for ten minutes, and then when its reader asks. */
const LOOK_SECONDS = 5;
const MOST_LOOKS = 120;
const MAX_REASON = 500;

/** GET /verdict/{verdict_id}: one verdict for people. */
export const verdictPage: Page = {
  path: "/verdict/{verdict_id}",
  needs: "/v1/verdicts/{verdict_id}",
  get: respond,
};

async function respond(...[context, { ports }]: Parameters<PageHandler>): Promise<Response> {
  const given = context.req.param("verdict_id") ?? "";
  const verdict = renderVerdict(await requireVerdict(given, ports));
  const path = `/verdict/${verdict.verdict_id}`;
  const looks = isUnderWay(verdict) ? looksOf(context) : null;
  const again = looks === null || looks >= MOST_LOOKS ? null : `${path}?looks=${looks + 1}`;
  const page = {
    title: `Verdict ${verdict.verdict_id.slice(0, 8)}`,
    path,
    body: renderBody(verdict, { again, isStopped: isUnderWay(verdict) && again === null }),
  };
  return answerPrivatePage(context, page, {
    ...(again === null ? {} : { headers: { refresh: `${LOOK_SECONDS}; url=${again}` } }),
  });
}

/** How often the browser has looked by itself; null where its reader had it stop. */
function looksOf(context: ApiContext): number | null {
  const given = context.req.query("looks") ?? "0";
  return /^[0-9]{1,3}$/.test(given) ? Number(given) : null;
}

function isUnderWay(verdict: VerdictAnswer): boolean {
  return verdict.status === "pending" || verdict.status === "processing" || verdict.rerun !== null;
}

type Looking = { readonly again: string | null; readonly isStopped: boolean };

function renderBody(verdict: VerdictAnswer, looking: Looking): Fragment {
  const { verdict_id: id, status } = verdict;
  return html`<p class="eyebrow">Verdict <code>${id}</code></p>
${status === "completed" ? renderDecision(verdict) : renderOpen(verdict, status)}
${renderLooking(id, looking)}`;
}

function renderOpen(verdict: VerdictAnswer, status: "pending" | "processing" | "failed"): Fragment {
  if (status === "failed")
    return html`<h1>No verdict could be made</h1>
<p class="lead">${strangeText(verdict.error_message ?? "The panel gave no reason.", MAX_REASON)}</p>
<p>This says nothing of the output. Whoever submitted it may have it judged again with <code>POST /v1/verdicts/{verdict_id}/retry</code>, up to three times; where a job waits for it, a reviewer can decide.</p>
${renderHashes(verdict)}`;
  return html`<h1>${status === "pending" ? "Waiting for the panel" : "Being judged"}</h1>
<p class="lead">${waitingWords(status)}</p>
${renderHashes(verdict)}`;
}

function renderHashes({ spec_hash, output_hash }: VerdictAnswer): Fragment {
  return html`<section class="panel" aria-labelledby="texts"><h2 id="texts">What is judged</h2>
<dl class="facts">
<dt>Specification</dt><dd><code class="mono">${spec_hash}</code></dd>
<dt>Output</dt><dd><code class="mono">${output_hash}</code></dd>
</dl></section>`;
}

function renderLooking(id: string, { again, isStopped }: Looking): Fragment | string {
  if (again !== null)
    return html`<p class="notice" role="status">This page looks again every ${LOOK_SECONDS} seconds. <a href="/verdict/${id}?looks=stop">Stop that</a>.</p>`;
  if (isStopped)
    return html`<p class="notice">This page does not look again by itself. <a href="/verdict/${id}">Look again</a>.</p>`;
  return "";
}
