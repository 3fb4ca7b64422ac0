import { html } from "hono/html";
import type { ScanNight } from "../../registries/nightly/service-records.ts";
import { renderLineChart } from "./line-chart.ts";
import { countOf, countWords, dayWords, GRADES } from "./page-words.ts";
import type { Fragment } from "./prose.ts";

/** Nights of the table; the chart has all. */
const LISTED = 7;

/** The mean of all scores and the grades by night; one night is no trend, and is said to be none. */
export function renderTrend(nights: readonly ScanNight[]): Fragment {
  const newest = nights.at(-1);
  if (newest === undefined)
    return html`<p class="quiet">No nightly scan is done yet. Each looks at every wallet, and two of them make a trend.</p>`;
  if (nights.every(({ meanScoreHundredths }) => meanScoreHundredths === null))
    return html`<p class="quiet">After none of ${countOf(nights.length, "nightly scan")} had any wallet a score.</p>${renderTable(nights)}`;
  if (nights.length === 1)
    return html`<p class="quiet">One nightly scan is done; two make a trend.</p>${renderTable(nights)}`;
  const first = nights[0] ?? newest;
  const description = `From ${meanWords(first)} on ${dayWords(first.night)} to ${meanWords(newest)} on ${dayWords(newest.night)}, over ${nights.length} nights.`;
  return html`<p class="quiet">Mean of all scores, after each nightly scan.</p>
${renderLineChart({
  id: "nights",
  title: "Mean score by night",
  description,
  points: nights.map((night) => ({
    at: new Date(`${night.night}T00:00:00Z`),
    score: night.meanScoreHundredths === null ? null : night.meanScoreHundredths / 100,
    label: `${dayWords(night.night)}: ${meanWords(night)}`,
  })),
  first: dayWords(first.night),
  last: dayWords(newest.night),
})}
${renderTable(nights)}`;
}

function renderTable(nights: readonly ScanNight[]): Fragment {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Grades by night"><table class="nights">
<caption>Wallets by grade, the newest night first; “None” are those without enough history</caption>
<thead><tr><th scope="col">Night</th><th scope="col" class="number">Mean</th>${GRADES.map((grade) => html`<th scope="col" class="number">${grade}</th>`)}<th scope="col" class="number">None</th></tr></thead>
<tbody>${nights
    .slice(-LISTED)
    .reverse()
    .map(
      (night) =>
        html`<tr><th scope="row">${dayWords(night.night)}</th><td class="number" data-name="Mean">${meanWords(night)}</td>${GRADES.map((grade) => html`<td class="number" data-name="${grade}">${countWords(night.grades[grade])}</td>`)}<td class="number" data-name="None">${countWords(night.grades.insufficient)}</td></tr>`,
    )}</tbody></table></div>`;
}

function meanWords({ meanScoreHundredths }: ScanNight): string {
  return meanScoreHundredths === null ? "no score" : (meanScoreHundredths / 100).toFixed(1);
}
