import { html } from "hono/html";
import { newAgentsOf } from "../../db/tables/scan.ts";
import type { ScanNight } from "../../registries/nightly/service-records.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { answerPrivatePage, type Page, type PageRuntime } from "./page.ts";
import { countOf, countWords, DAY, dayWords, HOUR, MINUTE, spanWords, timeTag } from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import type { StatusReading } from "./status-reading.ts";

const WORDS: Readonly<Record<StatusState, string>> = {
  well: "Operational",
  attention: "Degraded",
  off: "Not in use",
};

/** GET /status: the state of every part in words; always 200. */
export const statusPage: Page = { path: "/status", get: respond };

async function respond(context: ApiContext, { ports }: PageRuntime): Promise<Response> {
  // The page is there even if the nights cannot be read.
  const [reading, nights] = await Promise.all([ports.status(), ports.nights().catch(() => [])]);
  const lines = statusLines(reading);
  const page = {
    title: statusHeadline(lines),
    path: "/status",
    description: "State of the index, the sanctions lists, the nightly scan and the publication of scores.",
    refreshSeconds: 30,
    body: html`${renderStatus(reading, lines, ports.machineStatus)}${renderNights(nights, reading.at)}`,
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
<p class="lead">As of ${timeTag(at)}. This page updates by itself. Programs read <a href="${machineStatus}">${machineStatus}</a>.</p>
<section class="panel" aria-labelledby="parts"><h2 id="parts">Components</h2>
<table class="stack"><thead><tr><th scope="col">Component</th><th scope="col">State</th><th scope="col">Details</th></tr></thead>
<tbody>${lines.map(renderLine)}</tbody></table></section>
<div class="grid">
${records?.lastScan == null ? "" : renderScan(records.lastScan)}
${records?.epoch == null ? "" : renderRoot(records.epoch)}
</div>`;
}

const SHOWN_NIGHTS = 14;

/** Whether each of the last nights had its scan; empty before the first scan. */
function renderNights(nights: readonly ScanNight[], at: Date): Fragment | string {
  const done = new Set(nights.map(({ night }) => night));
  const [first] = [...done].toSorted();
  if (first === undefined) return "";
  const days = Array.from({ length: SHOWN_NIGHTS }, (_, index) =>
    new Date(at.getTime() - index * DAY * 1_000).toISOString().slice(0, 10),
  );
  // The scan of this night may still be to come.
  const shown = days.filter((day, index) => day >= first && (index > 0 || done.has(day)));
  const missed = shown.filter((day) => !done.has(day)).length;
  return html`<section class="panel" aria-labelledby="nights"><h2 id="nights">Nightly scans</h2>
<p>${shown.length === 1 ? "The first scan finished." : missed === 0 ? `The last ${shown.length} scans finished.` : `${countOf(missed, "scan")} of the last ${shown.length} did not finish.`}</p>
<ol class="nights-done">${shown.toReversed().map((day) => html`<li class="${done.has(day) ? "done" : "missed"}" title="${dayWords(day)}: ${done.has(day) ? "finished" : "not finished"}"><span class="hidden">${dayWords(day)}: ${done.has(day) ? "finished" : "not finished"}</span></li>`)}</ol></section>`;
}

function renderLine({ name, state, words }: StatusLine): Fragment {
  return html`
<tr><th scope="row">${name}</th><td><span class="state state-${state}">${WORDS[state]}</span></td><td>${words}</td></tr>`;
}

function renderScan({ night, cause, finishedAt, report }: NonNullable<Records["lastScan"]>): Fragment {
  const { registries, documents, changedDocuments, endpoints, changedGrades } = report;
  const unread = registries.filter(({ fault }) => fault !== null).map(({ name }) => name);
  return html`<section class="panel" aria-labelledby="scan"><h2 id="scan">Last scan</h2>
<dl class="facts">
<dt>Night</dt><dd>${dayWords(night)}${cause === "hand" ? ", started by hand" : ""}</dd>
<dt>Ended</dt><dd>${timeTag(finishedAt)}</dd>
<dt>New agents</dt><dd>${countWords(newAgentsOf(report))} in ${registries.length === 1 ? "1 registry" : `${registries.length} registries`}${unread.length === 0 ? "" : `; incomplete: ${unread.join(", ")}`}</dd>
<dt>Agents' documents</dt><dd>${countWords(documents.current)} current, ${countWords(changedDocuments)} changed, ${countWords(documents.unreachable)} unreachable, ${countWords(documents.refused)} refused, ${countWords(documents.malformed)} malformed</dd>
<dt>Endpoints of agents</dt><dd>${countWords(endpoints.alive)} answer, ${countWords(endpoints.failing)} fail <span class="quiet">(operated by the agents, not by this service)</span></dd>
<dt>Grades</dt><dd>${changedGrades === null ? "no grades of an earlier scan to compare with" : `${countOf(changedGrades, "wallet")} changed grade`}</dd>
</dl></section>`;
}

function renderRoot({ epoch, root, state, createdAt }: NonNullable<Records["epoch"]>): Fragment {
  return html`<section class="panel" aria-labelledby="root"><h2 id="root">Newest Merkle root</h2>
<dl class="facts">
<dt>Epoch</dt><dd><a href="/epochs/${epoch}">${epoch}</a>, ${state === "confirmed" ? "on chain" : state === "sent" ? "sent" : "replaced by a newer one"}</dd>
<dt>Created</dt><dd>${timeTag(createdAt)}</dd>
<dt>Root</dt><dd class="mono">${root}</dd>
</dl>
<p class="small">It covers the record of every wallet of that night. The oracle's <code>verify</code> checks the proofs of the list.</p></section>`;
}

/** well: works. attention: does not work as it should. off: not set up or not due yet. */
type StatusState = "well" | "attention" | "off";

type StatusLine = { readonly name: string; readonly state: StatusState; readonly words: string };

type Records = NonNullable<StatusReading["records"]>;

/** After this delay a night counts as missed, even if the worker was down for a while. */
const SCAN_OVERDUE = DAY + 6 * HOUR;
/** Lists appear every few days; an older import was forgotten. */
const LIST_OVERDUE = 7 * DAY;
const CONTRACT_OVERDUE = 10 * MINUTE;
const PUBLISH_OVERDUE = 10 * MINUTE;
const ROOT_OVERDUE = HOUR;
const WEBHOOK_OVERDUE = 5 * MINUTE;

export function statusLines(reading: StatusReading): readonly StatusLine[] {
  return [
    ...readinessLines(reading),
    ...sanctionsLines(reading),
    ...(reading.records === null ? [unknown("Nightly work")] : recordLines(reading.records, reading.at)),
    ...verificationLines(reading),
  ];
}

export function statusHeadline(lines: readonly StatusLine[]): string {
  const faults = lines.filter(({ state }) => state === "attention").map(({ name }) => name);
  if (faults.length === 0) return "All systems operational";
  const [first = "", ...others] = faults;
  return others.length === 0 ? `${first} is degraded` : `${faults.length} components are degraded`;
}

function line(name: string, state: StatusState | boolean, words: string): StatusLine {
  return { name, state: typeof state === "string" ? state : state ? "well" : "attention", words };
}

function unknown(name: string): StatusLine {
  return line(name, "attention", "The state cannot be read now.");
}

function readinessLines({ readiness }: StatusReading): readonly StatusLine[] {
  if (readiness === null) return [unknown("Database"), unknown("Index")];
  const { checks, index } = readiness;
  return [
    line("Database", checks.database.ok, sentence(checks.database.detail)),
    line("Index", index.ok, sentence(index.detail)),
  ];
}

function sanctionsLines({ readiness }: StatusReading): readonly StatusLine[] {
  const sources = readiness?.sanctions ?? null;
  return sources === null ? [unknown("Sanctions lists")] : sources.map(sanctionsLine);
}

function sanctionsLine({
  source,
  age_seconds: age,
  entries,
  unchecked_wallets: unchecked,
}: NonNullable<NonNullable<StatusReading["readiness"]>["sanctions"]>[number]): StatusLine {
  const isContract = source === "chainalysis-oracle";
  const name = isContract ? "Sanctions contract" : "OFAC list";
  if (age === null)
    return isContract ? line(name, "attention", "Not read yet.") : line(name, "off", "Not imported.");
  const still =
    unchecked === null || unchecked === 0 ? "" : ` ${countOf(unchecked, "wallet")} not checked yet.`;
  const known = `${countWords(entries)} ${entries === 1 ? "entry" : "entries"}, updated ${spanWords(age)} ago.${still}`;
  return line(name, age <= (isContract ? CONTRACT_OVERDUE : LIST_OVERDUE), known);
}

function recordLines(records: Records, at: Date): readonly StatusLine[] {
  return [
    scanLine(records, at),
    rootLine(records, at),
    publishLine(records, at),
    webhookLine(records),
    ...pastLines(records),
  ];
}

function scanLine({ lastScan, openScan }: Records, at: Date): StatusLine {
  const name = "Nightly scan";
  const hasFailed = openScan?.hasFailed === true;
  const open =
    openScan === null ? "" : hasFailed ? " The current scan failed and is retried." : " A scan is running.";
  if (lastScan === null)
    return line(name, hasFailed ? "attention" : "off", `No scan has finished yet.${open}`);
  const age = secondsBetween(lastScan.finishedAt, at);
  const ended = `The scan of ${dayWords(lastScan.night)} finished ${spanWords(age)} ago.${open}`;
  return line(name, age <= SCAN_OVERDUE && !hasFailed, ended);
}

function rootLine({ epoch }: Records, at: Date): StatusLine {
  const name = "Merkle root";
  if (epoch === null) return line(name, "off", "Not published yet; a root is published every night.");
  const root = `The root of epoch ${epoch.epoch}`;
  switch (epoch.state) {
    case "confirmed":
      return line(name, "well", `${root} is on chain.`);
    case "sent":
      return line(
        name,
        secondsBetween(epoch.createdAt, at) <= ROOT_OVERDUE,
        `${root} is sent and not confirmed yet.`,
      );
    case "superseded":
      return line(name, "well", `${root} was replaced by a newer one.`);
  }
}

function publishLine({ publishWaitsSince }: Records, at: Date): StatusLine {
  const name = "Scores on chain";
  if (publishWaitsSince === null) return line(name, "well", "No score is waiting.");
  const age = secondsBetween(publishWaitsSince, at);
  return line(name, age <= PUBLISH_OVERDUE, `The oldest score has waited for ${spanWords(age)}.`);
}

function webhookLine({ webhookLagSeconds }: Records): StatusLine {
  const late = Math.floor(webhookLagSeconds);
  const words =
    late === 0 ? "No delivery is overdue." : `The oldest delivery is overdue by ${spanWords(late)}.`;
  return line("Webhooks", late <= WEBHOOK_OVERDUE, words);
}

/** A line while pasts are being read. */
function pastLines({ warmed: { open, followed } }: Records): readonly StatusLine[] {
  if (open === 0) return [];
  const read = `${countWords(followed - open)} of ${countOf(followed, "followed wallet")}`;
  return [line("Earlier history", "well", `The history before the index is read for ${read}.`)];
}

const CHECK_STATES = { ok: "well", failing: "attention", not_configured: "off" } as const;

function verificationLines({ verification }: StatusReading): readonly StatusLine[] {
  if (verification === null) return [];
  const { model, queue } = verification;
  return [
    line("Panel of models", CHECK_STATES[model.status], sentence(model.detail)),
    line("Verdicts", CHECK_STATES[queue.status], queueWords(queue)),
  ];
}

/** The queue in words; if all counts are zero, nothing waits. */
function queueWords({ detail }: { detail: string }): string {
  return detail.startsWith("0 waiting, 0 under way,") ? "No verdict is waiting." : sentence(detail);
}

/** A machine-readable detail with its counts in page format. */
function sentence(detail: string): string {
  const text = detail.replace(/\b[0-9]{4,15}\b/g, (digits) => countWords(Number(digits)));
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1_000));
}
