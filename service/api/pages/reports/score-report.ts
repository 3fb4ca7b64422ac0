import { html } from "hono/html";
import { titleOf } from "../../../reports/explain-score.ts";
import type { AhsRecord } from "../../schemas/ahs-record.ts";
import { gradeOfScore, renderLineChart } from "../charts.ts";
import { countOf, countWords, dayWords, gradeMark, timeTag } from "../page-words.ts";
import type { Fragment } from "../prose.ts";

type HistoryEntry = NonNullable<AhsRecord["history"]>[number];
type Reading = Pick<HistoryEntry, "as_of_time" | "ahs_score">;

/** Rows in the table; the chart shows all. */
const LISTED = 20;

/** Below these lengths the ends of a chart show hours or seconds. */
const HOURS_UNDER_MS = 2 * 86_400_000;
const SECONDS_UNDER_MS = 2 * 60_000;

/** Both parts of a score, how they make it, its patterns and its history. */
export function renderScoreReport(record: AhsRecord): Fragment {
  return html`<div class="grid">
${renderDimension("D1", record.d1_score, record)}
${renderDimension("D2", record.d2_score, record)}
</div>
${renderScoreSum(record)}
<section class="panel" aria-labelledby="patterns"><h2 id="patterns">Patterns</h2>${renderPatterns(record)}</section>
<section class="panel" aria-labelledby="history"><h2 id="history">History of the score</h2>${renderScoreLine(record.history ?? [])}
${renderEntries(record.history ?? [])}</section>
<section class="panel" aria-labelledby="coverage"><h2 id="coverage">Data behind the score</h2>${renderCoverage(record)}</section>`;
}

function renderDimension(
  dimension: "D1" | "D2",
  score: number | null,
  { features = [], adjustments = [] }: AhsRecord,
): Fragment {
  const id = dimension.toLowerCase();
  const own = features.filter((feature) => feature.dimension === dimension);
  const effects = adjustments.filter((one) => one.dimension === dimension && one.name !== "rounding");
  return html`<section class="panel" aria-labelledby="${id}"><h2 id="${id}">${titleOf(id)}: ${score === null ? "no score" : `${score} of 100`}</h2>
${effects.map((effect) => html`<p class="notice alarm">${adjustmentWords(effect)}</p>`)}
${own.length === 0 ? html`<p class="quiet">No feature could be measured.</p>` : ""}
<dl class="features">${own.map(
    (feature) => html`
<div><dt>${feature.title}</dt><dd class="points">${feature.score === null ? html`<span class="quiet">–</span>` : html`${renderScoreBar(feature.score)}<span>${Math.round(feature.score)}<span class="hidden"> of 100</span></span>`}</dd><dd class="says">${feature.says}</dd></div>`,
  )}</dl></section>`;
}

function renderScoreBar(score: number): Fragment {
  return html`<svg class="bar" width="80" height="8" aria-hidden="true"><rect class="track" width="100%" height="8" rx="4"/><rect class="in-${gradeOfScore(score)}" width="${Math.round(score)}%" height="8" rx="4"/></svg>`;
}

type Adjustment = NonNullable<AhsRecord["adjustments"]>[number];

/** Effects that override the features of a dimension, such as a listing. */
function adjustmentWords({ says, points }: Adjustment): string {
  return points < 0 ? `${says}: that takes ${-points} points, whatever was measured.` : `${says}.`;
}

function renderPatterns({ patterns, adjustments = [] }: AhsRecord): Fragment {
  if (patterns.length === 0)
    return html`<p class="quiet">No pattern was found${adjustments.some(({ name }) => CAPS.has(name)) ? "; the score is limited for another reason, see the sum above" : ""}.</p>`;
  return html`<ul class="plain">${patterns.map(
    ({ name, severity, effect, evidence }) =>
      html`<li><b>${titleOf(name)}</b> <span class="chip ${SEVERITIES[severity]}">${severity}</span>${effect === 0 ? "" : html` <span class="quiet">−${-effect} points</span>`}<br>${evidence}</li>`,
  )}</ul>`;
}

/** Adjustments of the score that are due to no pattern. */
const CAPS: ReadonlySet<string> = new Set(["weak_link", "sanctions"]);

const SEVERITIES = { info: "", warning: "warn", critical: "alarm" } as const;

/** Scores over time as a line, newest first; in words where they make none. */
export function renderScoreLine(newestFirst: readonly Reading[]): Fragment {
  const [newest] = newestFirst;
  const oldest = newestFirst.at(-1);
  if (newest === undefined || oldest === undefined) return html`<p class="quiet">No score is stored yet.</p>`;
  if (newestFirst.length === 1)
    return html`<p class="quiet">This is the first score of the wallet; two make a line.</p>`;
  if (newestFirst.every(({ ahs_score }) => ahs_score === null))
    return html`<p class="quiet">None of its ${newestFirst.length} stored records has a score: there was too little history each time.</p>`;
  const span = Date.parse(newest.as_of_time) - Date.parse(oldest.as_of_time);
  if (span === 0)
    return html`<p class="quiet">All ${newestFirst.length} scores are as of one block; two blocks make a line.</p>`;
  const day = dayIn(span);
  const points = newestFirst.toReversed().map((entry) => ({
    at: new Date(entry.as_of_time),
    score: entry.ahs_score,
    label: `${entry.as_of_time.slice(0, 16).replace("T", " ")}: ${scoreText(entry)}`,
  }));
  return renderLineChart({
    id: "scores",
    title: "Score over time",
    description: `${countOf(newestFirst.length, "score")}, from ${scoreText(oldest)} on ${day(oldest)} to ${scoreText(newest)} on ${day(newest)}. Each holds until the next.`,
    points,
    first: day(oldest),
    last: day(newest),
  });
}

/** Format of the ends of a chart: short charts add the hour or the second. */
function dayIn(spanMs: number): (entry: Reading) => string {
  return ({ as_of_time }) => {
    const day = dayWords(as_of_time.slice(0, 10));
    if (spanMs >= HOURS_UNDER_MS) return day;
    return `${day}, ${as_of_time.slice(11, spanMs < SECONDS_UNDER_MS ? 19 : 16)} UTC`;
  };
}

function renderEntries(entries: readonly HistoryEntry[]): Fragment | string {
  if (entries.length === 0) return "";
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

function scoreText({ ahs_score }: Reading): string {
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
function renderScoreSum({ ahs_score, dimensions = [], adjustments = [] }: AhsRecord): Fragment | string {
  if (ahs_score === null || dimensions.length === 0) return "";
  const own = adjustments.filter(({ dimension }) => dimension === "AHS");
  const shown = own.filter(({ name }) => name !== "rounding");
  return html`<section class="panel" aria-labelledby="sum"><h2 id="sum">From parts to score</h2>
<table class="sum"><thead class="hidden"><tr><th scope="col">Part</th><th scope="col" class="number">Points</th></tr></thead>
<tbody>${dimensions.map(({ title, score, weight, points }) => renderLine(title, { detail: `${weight.toFixed(2)} × ${score.toFixed(2)} points`, points }))}${shown.map(({ title, says, points }) => renderLine(title, { detail: says, points }))}</tbody>
<tfoot><tr><th scope="row">Score${shown.length < own.length ? ", in whole points" : ""}</th><td class="number"><b>${ahs_score}</b></td></tr></tfoot></table></section>`;
}

function renderLine(title: string, { detail, points }: { detail: string; points: number }): Fragment {
  return html`
<tr><th scope="row">${title} <span class="why">${detail}</span></th><td class="number">${signedPoints(points)}</td></tr>`;
}

/** Points with a sign. */
function signedPoints(points: number): string {
  if (points === 0) return "0.00";
  return points < 0 ? `−${(-points).toFixed(2)}` : `+${points.toFixed(2)}`;
}
