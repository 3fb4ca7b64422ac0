import { html } from "hono/html";
import type { FeatureLine } from "../../../model/score/record.ts";
import { isFeature, sentenceOf, titleOf } from "../../../reports/report-card.ts";
import type { AhsRecord } from "../../schemas/ahs-record.ts";
import { gradeOfScore, renderLineChart } from "../charts.ts";
import { countOf, countWords, dayWords, gradeMark, percentWords, timeTag } from "../page-words.ts";
import type { Fragment } from "../prose.ts";

type HistoryEntry = NonNullable<AhsRecord["history"]>[number];

/** Rows in the table; the chart shows all. */
const LISTED = 20;

/** Below these lengths the ends of a chart show hours or seconds. */
const HOURS_UNDER_MS = 2 * 86_400_000;
const SECONDS_UNDER_MS = 2 * 60_000;

/** Both parts of a score, how they make it, its patterns and its history. */
export function renderScoreReport(record: AhsRecord): Fragment {
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
<section class="panel" aria-labelledby="coverage"><h2 id="coverage">Data behind the score</h2>${renderCoverage(record)}</section>`;
}

function renderDimension(id: "d1" | "d2", score: number | null, lines: readonly FeatureLine[]): Fragment {
  const adjustments = lines.filter((line) => !isFeature(line) && line.name !== "rounding");
  return html`<section class="panel" aria-labelledby="${id}"><h2 id="${id}">${titleOf(id)}: ${score === null ? "no score" : `${score} of 100`}</h2>
${adjustments.map((line) => html`<p class="notice alarm">${adjustmentWords(line)}</p>`)}
${lines.length === 0 ? html`<p class="quiet">No feature could be measured.</p>` : ""}
<dl class="features">${lines.filter(isFeature).map(
    (line) => html`
<div><dt>${titleOf(line.name)}</dt><dd class="points">${line.score === null ? html`<span class="quiet">–</span>` : html`${renderScoreBar(line.score)}<span>${Math.round(line.score)}<span class="hidden"> of 100</span></span>`}</dd><dd class="says">${sentenceOf(line, null)}${gateWords(line)}</dd></div>`,
  )}</dl></section>`;
}

function renderScoreBar(score: number): Fragment {
  return html`<svg class="bar" width="80" height="8" aria-hidden="true"><rect class="track" width="100%" height="8" rx="4"/><rect class="in-${gradeOfScore(score)}" width="${Math.round(score)}%" height="8" rx="4"/></svg>`;
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
  if (patterns.length === 0) return html`<p class="quiet">None of the known patterns was found.</p>`;
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
    return html`<p class="quiet">None of its ${newestFirst.length} stored records has a score: there was too little history each time.</p>${renderEntries(newestFirst)}`;
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
