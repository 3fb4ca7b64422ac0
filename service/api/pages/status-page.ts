import { html } from "hono/html";
import { newAgentsOf } from "../../db/tables/scan-report.ts";
import type { ApiContext } from "../api-env.ts";
import { answerPrivatePage, type Page, type PageRuntime } from "./page.ts";
import { countOf, countWords, dayWords, timeTag } from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { type StatusLine, type StatusState, statusHeadline, statusLines } from "./status-lines.ts";
import type { StatusReading } from "./status-reading.ts";

type Scan = NonNullable<NonNullable<StatusReading["records"]>["lastScan"]>;
type Root = NonNullable<NonNullable<StatusReading["records"]>["epoch"]>;

const WORDS: Readonly<Record<StatusState, string>> = {
  well: "Well",
  attention: "Attention",
  off: "Not in use",
};

/** GET /status: how everything stands, in words; 200 whatever it says. */
export const statusPage: Page = { path: "/status", get: respond };

async function respond(context: ApiContext, { ports }: PageRuntime): Promise<Response> {
  const reading = await ports.status();
  const lines = statusLines(reading);
  const page = {
    title: "Status",
    path: "/status",
    description: "How the index, the sanctions lists, the nightly scan and the publication of scores stand.",
    body: renderStatus(reading, lines, ports.machineStatus),
  };
  return answerPrivatePage(context, page, { headers: { "cache-control": "no-cache" } });
}

function renderStatus(
  { at, records }: StatusReading,
  lines: readonly StatusLine[],
  machineStatus: string,
): Fragment {
  const isWell = lines.every(({ state }) => state !== "attention");
  return html`<h1 class="headline ${isWell ? "well" : "attention"}">${statusHeadline(lines)}</h1>
<p class="lead">As of ${timeTag(at)}. For machines: <a href="${machineStatus}">${machineStatus}</a>.</p>
<section class="panel" aria-labelledby="parts"><h2 id="parts">Parts</h2>
<table class="stack"><thead><tr><th scope="col">Part</th><th scope="col">State</th><th scope="col">What is known</th></tr></thead>
<tbody>${lines.map(renderLine)}</tbody></table></section>
<div class="grid">
${records?.lastScan == null ? "" : renderScan(records.lastScan)}
${records?.epoch == null ? "" : renderRoot(records.epoch)}
</div>`;
}

function renderLine({ name, state, words }: StatusLine): Fragment {
  return html`
<tr><th scope="row">${name}</th><td><span class="state state-${state}">${WORDS[state]}</span></td><td>${words}</td></tr>`;
}

function renderScan({ night, cause, finishedAt, report }: Scan): Fragment {
  const { registries, documents, changedDocuments, endpoints, changedGrades } = report;
  const unread = registries.filter(({ fault }) => fault !== null).map(({ name }) => name);
  return html`<section class="panel" aria-labelledby="scan"><h2 id="scan">Last scan</h2>
<dl class="facts">
<dt>Night</dt><dd>${dayWords(night)}${cause === "hand" ? ", started by hand" : ""}</dd>
<dt>Ended</dt><dd>${timeTag(finishedAt)}</dd>
<dt>New agents</dt><dd>${countWords(newAgentsOf(report))} in ${registries.length === 1 ? "1 registry" : `${registries.length} registries`}${unread.length === 0 ? "" : `; not read to the end: ${unread.join(", ")}`}</dd>
<dt>Agents' documents</dt><dd>${countWords(documents.current)} current, ${countWords(changedDocuments)} changed, ${countWords(documents.unreachable)} out of reach, ${countWords(documents.refused)} refused, ${countWords(documents.malformed)} malformed</dd>
<dt>Agents' endpoints</dt><dd>${countWords(endpoints.alive)} alive, ${countWords(endpoints.failing)} failing <span class="quiet">(none of them is this service's own)</span></dd>
<dt>Grades</dt><dd>${changedGrades === null ? "the first scan compares with none" : `${countOf(changedGrades, "wallet")} changed grade`}</dd>
</dl></section>`;
}

function renderRoot({ epoch, root, state, createdAt }: Root): Fragment {
  return html`<section class="panel" aria-labelledby="root"><h2 id="root">Newest Merkle root</h2>
<dl class="facts">
<dt>Epoch</dt><dd><a href="/epochs/${epoch}">${epoch}</a>, ${state === "confirmed" ? "on chain" : state === "sent" ? "on its way" : "overtaken"}</dd>
<dt>Made</dt><dd>${timeTag(createdAt)}</dd>
<dt>Root</dt><dd class="mono">${root}</dd>
</dl>
<p class="small">Every wallet's record of that night is in it; the oracle's <code>verify</code> takes the proofs that the list holds.</p></section>`;
}
