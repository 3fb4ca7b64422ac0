import { html } from "hono/html";
import { isFeature, sentenceOf, titleOf } from "../../diagnose/report-card-words.ts";
import type { FeatureLine } from "../../score/record.ts";
import type { AhsRecord } from "../scores/ahs-record-schema.ts";
import { renderLineChart } from "./line-chart.ts";
import { countOf, countWords, dayWords, gradeMark, timeTag } from "./page-words.ts";
import type { Fragment } from "./prose.ts";

type HistoryEntry = NonNullable<AhsRecord["history"]>[number];

/** Rows of the table; the plot has all. */
const LISTED = 20;

/** What was bought of a wallet: features in words, patterns, the history of its score. */
export function renderReport(record: AhsRecord): Fragment {
  const lines: readonly FeatureLine[] = record.features ?? [];
  return html`<div class="grid">
${renderDimension({ id: "d1", score: record.d1_score, lines: lines.filter(({ dimension }) => dimension === "D1") })}
${renderDimension({ id: "d2", score: record.d2_score, lines: lines.filter(({ dimension }) => dimension === "D2") })}
</div>
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
  const adjustments = lines.filter((line) => !isFeature(line));
  return html`<section class="panel" aria-labelledby="${id}"><h2 id="${id}">${titleOf(id)}: ${score === null ? "no score" : `${score} of 100`}</h2>
${lines.length === 0 ? html`<p class="quiet">Nothing was measured.</p>` : ""}
<dl class="features">${lines.filter(isFeature).map(
    (line) => html`
<div><dt>${titleOf(line.name)}</dt><dd class="points">${line.score === null ? html`<span class="quiet">–</span>` : html`<meter min="0" max="100" value="${line.score}">${Math.round(line.score)} of 100</meter><span aria-hidden="true">${Math.round(line.score)}</span>`}</dd><dd class="says">${sentenceOf(line, null)}</dd></div>`,
  )}</dl>
${adjustments.length === 0 ? "" : html`<ul class="plain small quiet">${adjustments.map((line) => html`<li>${titleOf(line.name)}: ${sentenceOf(line, null)}</li>`)}</ul>`}</section>`;
}

function renderPatterns({ patterns }: AhsRecord): Fragment {
  if (patterns.length === 0) return html`<p class="quiet">No known pattern of trouble was found.</p>`;
  return html`<ul class="plain">${patterns.map(
    ({ name, severity, effect, evidence }) =>
      html`<li><b>${titleOf(name)}</b> <span class="chip ${SEVERITIES[severity]}">${severity}</span>${effect === 0 ? "" : html` <span class="quiet">${effect} points</span>`}<br>${evidence}</li>`,
  )}</ul>`;
}

const SEVERITIES = { info: "", warning: "warn", critical: "alarm" } as const;

function renderHistory(newestFirst: readonly HistoryEntry[]): Fragment {
  const [newest] = newestFirst;
  const oldest = newestFirst.at(-1);
  if (newest === undefined || oldest === undefined) return html`<p class="quiet">No score is stored yet.</p>`;
  if (newestFirst.length === 1)
    return html`<p class="quiet">This is the first score of the wallet; two make a line.</p>${renderEntries(newestFirst)}`;
  const points = newestFirst.toReversed().map((entry) => ({
    at: new Date(entry.as_of_time),
    score: entry.ahs_score,
    label: `${entry.as_of_time.slice(0, 16).replace("T", " ")}: ${scoreText(entry)}`,
  }));
  return html`${renderLineChart({
    id: "scores",
    title: "Score over time",
    description: `${countOf(newestFirst.length, "score")}, from ${scoreText(oldest)} on ${dayWords(oldest.as_of_time.slice(0, 10))} to ${scoreText(newest)} on ${dayWords(newest.as_of_time.slice(0, 10))}.`,
    points,
    first: dayWords(oldest.as_of_time.slice(0, 10)),
    last: dayWords(newest.as_of_time.slice(0, 10)),
  })}
${renderEntries(newestFirst)}`;
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

function renderCoverage({ coverage, trend, as_of_block }: AhsRecord): Fragment {
  return html`<dl class="facts">
<dt>Blocks</dt><dd>${countWords(coverage.from_block)} to ${countWords(coverage.to_block)}${coverage.complete ? "" : ", not all of its past"}</dd>
<dt>Sources</dt><dd>${coverage.sources.join(", ")}</dd>
<dt>As of block</dt><dd>${countWords(as_of_block)}</dd>
<dt>Over 30 days</dt><dd>${trend ?? "too few scores to say"}</dd>
</dl>`;
}
