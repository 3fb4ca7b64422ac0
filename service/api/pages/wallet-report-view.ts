import { html } from "hono/html";
import type { FeatureLine } from "../../model/score/record.ts";
import { isFeature, sentenceOf, titleOf } from "../../reports/report-card.ts";
import type { AhsRecord } from "../scores/ahs-record-schema.ts";
import { renderLineChart } from "./line-chart.ts";
import { countOf, countWords, dayWords, gradeMark, percentWords, timeTag } from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { renderScoreSum } from "./score-sum.ts";

type HistoryEntry = NonNullable<AhsRecord["history"]>[number];

/** Rows of the table; the plot has all. */
const LISTED = 20;

/** Where the ends of a chart are told with their hours, and with their seconds. */
const HOURS_UNDER_MS = 2 * 86_400_000;
const SECONDS_UNDER_MS = 2 * 60_000;

/** What was bought of a wallet: features in words, how they make the score, patterns, the history of the score. */
export function renderReport(record: AhsRecord): Fragment {
  const lines: readonly FeatureLine[] = record.features ?? [];
  return html`<div class="grid">
${renderDimension({ id: "d1", score: record.d1_score, lines: lines.filter(({ dimension }) => dimension === "D1") })}
${renderDimension({ id: "d2", score: record.d2_score, lines: lines.filter(({ dimension }) => dimension === "D2") })}
</div>
${renderScoreSum(record)}
<section class="panel" aria-labelledby="patterns"><h2 id="patterns">Patterns</h2>${renderPatterns(record)}</section>
<section class="panel" aria-labelledby="history"><h2 id="history">History of the score</h2>${renderHistory(record.history ?? [])}</section>
<section class="panel" aria-labelledby="coverage"><h2 id="coverage">What was looked at</h2>${renderCoverage(record)}</section>`;
}

type DimensionPart = {
  readonly id: "d1" | "d2";
  readonly score: number | null;
  readonly lines: readonly FeatureLine[];
};

function renderDimension({ id, score, lines }: DimensionPart): Fragment {
  const adjustments = lines.filter((line) => !isFeature(line) && line.name !== "rounding");
  return html`<section class="panel" aria-labelledby="${id}"><h2 id="${id}">${titleOf(id)}: ${score === null ? "no score" : `${score} of 100`}</h2>
${adjustments.map((line) => html`<p class="notice alarm">${adjustmentWords(line)}</p>`)}
${lines.length === 0 ? html`<p class="quiet">Nothing was measured.</p>` : ""}
<dl class="features">${lines.filter(isFeature).map(
    (line) => html`
<div><dt>${titleOf(line.name)}</dt><dd class="points">${line.score === null ? html`<span class="quiet">–</span>` : html`<meter min="0" max="100" value="${line.score}">${Math.round(line.score)} of 100</meter><span aria-hidden="true">${Math.round(line.score)}</span>`}</dd><dd class="says">${sentenceOf(line, null)}${gateWords(line)}</dd></div>`,
  )}</dl></section>`;
}

/** What overrides the features of a dimension, such as a listing, and what it takes. */
function adjustmentWords(line: FeatureLine): string {
  const reason = sentenceOf(line, null);
  const taken = line.contribution === null ? 0 : -line.contribution / 100;
  return taken > 0 ? `${reason}: that takes ${taken} points, whatever was measured.` : `${reason}.`;
}

/** How much a rhythm is worth, of which the line's reason holds the gate: all of it unless too few calls succeed. */
function gateWords({ name, state, reason }: FeatureLine): string {
  const gate = /\bgate ([01](?:\.[0-9]+)?)/.exec(reason ?? "")?.[1];
  if (state !== "measured" || gate === undefined || Number(gate) >= 1) return "";
  // The worst weeks of the consistency count as they are.
  const what = name === "consistency" ? "; its rhythm counts for" : "; that counts for";
  const share = Number(gate) === 0 ? "nothing" : `${percentWords(Number(gate))} of its points`;
  return `${what} ${share}, because too few of its calls succeed`;
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
    return html`<p class="quiet">It was looked at ${newestFirst.length} times, and never had enough history for a score.</p>${renderEntries(newestFirst)}`;
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

/** How the ends of a chart of this length are named: with the hour where days would be alike. */
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
