import { html } from "hono/html";
import type { Address } from "viem";
import type { FeatureLine } from "../../model/score/record.ts";
import type { RegisteredAgent } from "../../registries/documents/agent-names.ts";
import { isFeature, sentenceOf, titleOf } from "../../reports/report-card.ts";
import type { AvailableBacking } from "../../scores/backing/promised-amounts.ts";
import type { PublishedScore, ScoreReference, WalletSnapshot } from "../../scores/scores.ts";

import { getAhs } from "../routes/get-ahs.ts";
import type { AhsRecord } from "../schemas/ahs-record.ts";
import { renderLineChart } from "./charts.ts";
import type { PagePorts, ReportState } from "./page-ports.ts";
import {
  countOf,
  countWords,
  dayWords,
  dollars,
  gradeMark,
  percentWords,
  shortAmounts,
  timeTag,
} from "./page-words.ts";
import { type Fragment, renderProse } from "./prose.ts";

export type WalletView = {
  /** Lower-case. */
  readonly address: Address;
  readonly chain: PagePorts["chain"];
  readonly snapshot: WalletSnapshot;
  readonly published: PublishedScore | null;
  /** Null while it is unknown. */
  readonly backing: AvailableBacking | null;
  /** Null if the wallet was never scored. */
  readonly reference: ScoreReference | null;
  readonly agents: readonly RegisteredAgent[];
  /** Null without a score. */
  readonly rank: number | null;
  /** Wallets with a score. */
  readonly scored: number;
  /** The newest published Merkle epoch; null before the first. */
  readonly epoch: number | null;
  readonly origin: string;
  readonly now: Date;
};

/** locked: the visitor is not signed in. */
export type WalletPaidPart = { readonly kind: "locked" } | ReportState;

/** The paid report, or how to buy it. Nothing of the report is on the page before the purchase. */
export function renderPaidPart(
  part: WalletPaidPart,
  { address, known }: { address: Address; known: keyof typeof WHAT },
): Fragment {
  const what = WHAT[known];
  switch (part.kind) {
    case "locked":
      return section(html`${what}<p class="actions"><a class="button" href="/account?next=/wallet/${address}">Sign in with a key</a></p>
<p class="quiet small">It costs ${PRICE} a wallet. Programs buy the same with <code>GET /ahs/{address}?include=features,history</code>.</p>`);
    case "offer":
      return section(html`${what}${renderOffer(part, address)}`);
    case "refused":
      return section(html`<div class="notice warn" role="alert"><p><b>Nothing was bought, and nothing was charged.</b></p><p>${renderProse(shortAmounts(part.reason))}</p>${part.status === 401 ? html`<p><a href="/account">To your key</a></p>` : ""}</div>
${what}${part.status === 402 ? ADD_CREDITS : renderForm(part.offer, address)}`);
    case "pending":
      return section(html`<div class="notice warn" role="alert"><p><b>${part.status === 409 ? "It is still being answered." : "There is no answer yet."}</b></p><p>${renderProse(part.reason)}</p><p>Ask again in a moment: however often you ask, it is charged once at most.</p></div>
${what}${renderForm(part.offer, address, { button: "Ask again" })}`);
    case "bought":
      return html`<h2 id="behind">${HEADING}</h2>
<div class="notice" role="status"><p>${paidWords(part)}</p></div>
${renderReport(part.record)}`;
    case "outdated":
      return section(html`<div class="notice" role="status"><p>${paidWords(part)}</p></div>
<p>The report is of an earlier version of this service, which this page cannot show. It is complete as JSON.</p>
<p class="actions"><a class="button" download="report-${address}.json" href="data:application/json;base64,${Buffer.from(part.json).toString("base64")}">Download the report</a></p>`);
  }
}

/** The endpoint's own price, which is in thousandths of a US dollar. */
const PRICE_USD = (getAhs.price ?? 0) / 1000;
const PRICE = dollars(PRICE_USD);

const HEADING = "How the score comes about";

/** Description of the report; a wallet without a score is promised less. */
const WHAT = {
  scored: html`<p>Both parts of the score and how they make it, what was measured for each feature, the patterns that took points off, and the history of the score.</p>`,
  unscored: html`<p>There is no score yet: you would see what was measured so far for each feature, and which patterns were found.</p>`,
  never: html`<p>This has the wallet scored now. Where it has enough history you see its score and how it comes about, else what could be measured of it.</p>`,
};

function section(body: Fragment): Fragment {
  return html`<section class="panel" aria-labelledby="behind"><h2 id="behind">${HEADING}</h2>${body}</section>`;
}

const CHARGED =
  "Taken from the balance of your key, once within a day; a key without a limit is never charged. What cannot be answered costs nothing.";

const ADD_CREDITS = html`<p class="actions"><a class="button" href="/account#top-up">Add credits</a></p>`;

function renderOffer(
  { offer, funds }: Extract<WalletPaidPart, { readonly kind: "offer" }>,
  address: Address,
): Fragment {
  switch (funds.kind) {
    case "left":
      if (funds.usd < PRICE_USD)
        return html`<p>It costs ${PRICE}, and ${dollars(funds.usd)} is on your key.</p>${ADD_CREDITS}`;
      return renderForm(offer, address);
    case "unlimited":
      return renderForm(offer, address, {
        button: "Show it",
        note: "Your key has no limit, so nothing is charged.",
      });
    case "unknown":
      return renderForm(offer, address);
  }
}

function renderForm(
  offer: string,
  address: Address,
  { button = `Show it for ${PRICE}`, note = CHARGED }: { button?: string; note?: string } = {},
): Fragment {
  return html`<form class="buy" method="post" action="/wallet/${address}#behind" data-once>
<input type="hidden" name="offer" value="${offer}">
<button class="button">${button}</button>
<p class="quiet small">${note}</p>
</form>`;
}

function paidWords({ paid }: Extract<ReportState, { kind: "bought" | "outdated" }>): Fragment | string {
  switch (paid.kind) {
    case "left":
      return `Paid. ${dollars(paid.usd)} remain on your key. For a day from now this page shows it again at no charge.`;
    case "unlimited":
      return "Your key has no limit, so nothing was charged.";
    case "unknown":
      return "Paid. What remains on your key could not be read just now.";
    case "before":
      return html`You have this report: it is shown at no charge until ${timeTag(paid.until)}.`;
  }
}

type HistoryEntry = NonNullable<AhsRecord["history"]>[number];

/** Rows in the table; the chart shows all. */
const LISTED = 20;

/** Below these lengths the ends of a chart show hours or seconds. */
const HOURS_UNDER_MS = 2 * 86_400_000;
const SECONDS_UNDER_MS = 2 * 60_000;

export function renderReport(record: AhsRecord): Fragment {
  const lines: readonly FeatureLine[] = record.features ?? [];
  return html`<div class="grid">
${renderDimension(
  "d1",
  record.d1_score,
  lines.filter(({ dimension }) => dimension === "D1"),
)}
${renderDimension(
  "d2",
  record.d2_score,
  lines.filter(({ dimension }) => dimension === "D2"),
)}
</div>
${renderScoreSum(record)}
<section class="panel" aria-labelledby="patterns"><h2 id="patterns">Patterns</h2>${renderPatterns(record)}</section>
<section class="panel" aria-labelledby="history"><h2 id="history">History of the score</h2>${renderHistory(record.history ?? [])}</section>
<section class="panel" aria-labelledby="coverage"><h2 id="coverage">What was examined</h2>${renderCoverage(record)}</section>`;
}

function renderDimension(id: "d1" | "d2", score: number | null, lines: readonly FeatureLine[]): Fragment {
  const adjustments = lines.filter((line) => !isFeature(line) && line.name !== "rounding");
  return html`<section class="panel" aria-labelledby="${id}"><h2 id="${id}">${titleOf(id)}: ${score === null ? "no score" : `${score} of 100`}</h2>
${adjustments.map((line) => html`<p class="notice alarm">${adjustmentWords(line)}</p>`)}
${lines.length === 0 ? html`<p class="quiet">Nothing was measured.</p>` : ""}
<dl class="features">${lines.filter(isFeature).map(
    (line) => html`
<div><dt>${titleOf(line.name)}</dt><dd class="points">${line.score === null ? html`<span class="quiet">–</span>` : html`<meter min="0" max="100" value="${line.score}">${Math.round(line.score)} of 100</meter><span aria-hidden="true">${Math.round(line.score)}</span>`}</dd><dd class="says">${sentenceOf(line, null)}${gateWords(line)}</dd></div>`,
  )}</dl></section>`;
}

/** Effects that override the features of a dimension, such as a listing. */
function adjustmentWords(line: FeatureLine): string {
  const reason = sentenceOf(line, null);
  const taken = line.contribution === null ? 0 : -line.contribution / 100;
  return taken > 0 ? `${reason}: that takes ${taken} points, whatever was measured.` : `${reason}.`;
}

/** How much a rhythm is worth, of which the line's reason holds the gate: all of it unless too few calls succeed. */
function gateWords({ state, reason }: FeatureLine): string {
  const gate = /\bgate ([01](?:\.[0-9]+)?)/.exec(reason ?? "")?.[1];
  if (state !== "measured" || gate === undefined || Number(gate) >= 1) return "";
  const share = Number(gate) === 0 ? "nothing" : `${percentWords(Number(gate))} of its points`;
  return `; that counts for ${share}, because too few of its calls succeed`;
}

function renderPatterns({ patterns }: AhsRecord): Fragment {
  if (patterns.length === 0) return html`<p class="quiet">No known pattern of trouble was found.</p>`;
  return html`<ul class="plain">${patterns.map(
    ({ name, severity, effect, evidence }) =>
      html`<li><b>${titleOf(name)}</b> <span class="chip ${SEVERITIES[severity]}">${severity}</span>${effect === 0 ? "" : html` <span class="quiet">−${-effect} points</span>`}<br>${evidence}</li>`,
  )}</ul>`;
}

const SEVERITIES = { info: "", warning: "warn", critical: "alarm" } as const;

function renderHistory(newestFirst: readonly HistoryEntry[]): Fragment {
  const [newest] = newestFirst;
  const oldest = newestFirst.at(-1);
  if (newest === undefined || oldest === undefined) return html`<p class="quiet">No score is stored yet.</p>`;
  if (newestFirst.length === 1)
    return html`<p class="quiet">This is the first score of the wallet; two make a line.</p>${renderEntries(newestFirst)}`;
  if (newestFirst.every(({ ahs_score }) => ahs_score === null))
    return html`<p class="quiet">It was examined ${newestFirst.length} times and never had enough history for a score.</p>${renderEntries(newestFirst)}`;
  const span = Date.parse(newest.as_of_time) - Date.parse(oldest.as_of_time);
  if (span === 0)
    return html`<p class="quiet">All ${newestFirst.length} scores are as of one block; two blocks make a line.</p>${renderEntries(newestFirst)}`;
  const day = dayIn(span);
  const points = newestFirst.toReversed().map((entry) => ({
    at: new Date(entry.as_of_time),
    score: entry.ahs_score,
    label: `${entry.as_of_time.slice(0, 16).replace("T", " ")}: ${scoreText(entry)}`,
  }));
  return html`${renderLineChart({
    id: "scores",
    title: "Score over time",
    description: `${countOf(newestFirst.length, "score")}, from ${scoreText(oldest)} on ${day(oldest)} to ${scoreText(newest)} on ${day(newest)}. Each holds until the next.`,
    points,
    first: day(oldest),
    last: day(newest),
  })}
${renderEntries(newestFirst)}`;
}

/** Format of the ends of a chart: short charts add the hour or the second. */
function dayIn(spanMs: number): (entry: HistoryEntry) => string {
  return ({ as_of_time }) => {
    const day = dayWords(as_of_time.slice(0, 10));
    if (spanMs >= HOURS_UNDER_MS) return day;
    return `${day}, ${as_of_time.slice(11, spanMs < SECONDS_UNDER_MS ? 19 : 16)} UTC`;
  };
}

function renderEntries(entries: readonly HistoryEntry[]): Fragment {
  return html`<details${entries.length === 1 ? " open" : ""}><summary>The same in a table</summary><table>
<caption>${entries.length > LISTED ? `The newest ${LISTED} of ${entries.length} scores` : countOf(entries.length, "score")}, newest first</caption>
<thead><tr><th scope="col">As of</th><th scope="col">Grade</th><th scope="col" class="number">Score</th></tr></thead>
<tbody>${entries
    .slice(0, LISTED)
    .map(
      (entry) =>
        html`<tr><th scope="row">${timeTag(new Date(entry.as_of_time))}</th><td>${gradeMark(entry.grade)}</td><td class="number">${entry.ahs_score ?? "–"}</td></tr>`,
    )}</tbody></table></details>`;
}

function scoreText({ ahs_score }: HistoryEntry): string {
  return ahs_score === null ? "no score" : String(ahs_score);
}

function extentWords({ complete, newest_calls_only }: AhsRecord["coverage"]): string {
  if (newest_calls_only === true) return ", the newest of its many calls";
  return complete ? "" : ", not all of its past";
}

function renderCoverage({ coverage, trend, as_of_block }: AhsRecord): Fragment {
  return html`<dl class="facts">
<dt>Blocks</dt><dd>${countWords(coverage.from_block)} to ${countWords(coverage.to_block)}${extentWords(coverage)}</dd>
<dt>Sources</dt><dd>${coverage.sources.join(", ")}</dd>
<dt>As of block</dt><dd>${countWords(as_of_block)}</dd>
<dt>Over 30 days</dt><dd>${trend ?? "too few scores to say"}</dd>
</dl>`;
}

/**
 * The sum of a score: each dimension by its weight, each deduction with its reason, and the total. Empty without a score.
 */
function renderScoreSum({ ahs_score, features = [], patterns }: AhsRecord): Fragment | string {
  const total: readonly FeatureLine[] = features.filter(({ dimension }) => dimension === "AHS");
  if (ahs_score === null || total.length === 0) return "";
  const names = new Set(patterns.map(({ name }) => name));
  const shown = total.filter(({ name }) => name !== "rounding");
  return html`<section class="panel" aria-labelledby="sum"><h2 id="sum">From parts to score</h2>
<table class="sum"><thead class="hidden"><tr><th scope="col">Part</th><th scope="col" class="number">Points</th></tr></thead>
<tbody>${shown.map((line) => renderLine(wordsOf(line, names.has(line.name)), line.contribution))}</tbody>
<tfoot><tr><th scope="row">Score${shown.length < total.length ? ", in whole points" : ""}</th><td class="number"><b>${ahs_score}</b></td></tr></tfoot></table></section>`;
}

function renderLine({ title, detail }: ReturnType<typeof wordsOf>, contribution: number | null): Fragment {
  return html`
<tr><th scope="row">${title}${detail === null ? "" : html` <span class="why">${detail}</span>`}</th><td class="number">${signedPoints(contribution)}</td></tr>`;
}

function wordsOf(line: FeatureLine, isPattern: boolean) {
  const { name, score, weight, reason } = line;
  if (weight > 0 && score !== null)
    return { title: titleOf(name), detail: `${weight.toFixed(2)} × ${score.toFixed(2)} points` };
  if (isPattern) return { title: `Pattern: ${titleOf(name)}`, detail: reason };
  if (name === "effects_floor") return { title: "Given back", detail: reason };
  return { title: titleOf(name), detail: reason };
}

/** Hundredths of a point as points, with a sign. */
function signedPoints(hundredths: number | null): string {
  if (hundredths === null) return "–";
  if (hundredths === 0) return "0.00";
  const points = (Math.abs(hundredths) / 100).toFixed(2);
  return hundredths < 0 ? `−${points}` : `+${points}`;
}
