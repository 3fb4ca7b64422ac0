import { html } from "hono/html";
import type { ScoreDistribution } from "../../scores/ecosystem.ts";
import { percent, ROUTES_HEIGHT, renderRoutedRuler } from "./chart-parts.ts";
import { countOf, countWords, gradeMark, percentWords } from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { SCORE_BANDS } from "./score-bands.ts";

/** Points of a bar; every grade begins where a bar does. */
const BIN = 5;
const HEIGHT = 190;
const TOP = 24;

/** The ruler alone, for a chain on which nobody has a score. */
export function renderEmptyScale(): Fragment {
  return html`<svg class="chart" width="100%" height="${ROUTES_HEIGHT + 2}" role="img" aria-label="Scores from 0 to 100 with their grades, and what is done with a payment at each by default">${renderRoutedRuler(2)}</svg>`;
}

/** How many wallets have which score, as bars over the ruler and by grade in a table; `scored` is not zero. */
export function renderDistribution(distribution: ScoreDistribution): Fragment {
  const scored = distribution.reduce((sum, { wallets }) => sum + wallets, 0);
  const bands = SCORE_BANDS.map((band) => ({
    ...band,
    wallets: walletsIn(distribution, band.from, band.to),
  }));
  return html`<svg class="chart" width="100%" height="${HEIGHT + ROUTES_HEIGHT}" role="img" aria-labelledby="distribution-title distribution-text">
<title id="distribution-title">Wallets by score</title>
<desc id="distribution-text">${bands.map(({ grade, wallets }) => `${grade}: ${countOf(wallets, "wallet")}`).join("; ")}.</desc>
${renderBars(distribution)}
${renderRoutedRuler(HEIGHT)}
</svg>
<div class="scroll"><table>
<caption class="hidden">Wallets by grade</caption>
<thead><tr><th scope="col">Grade</th><th scope="col">Scores</th><th scope="col" class="number">Wallets</th><th scope="col" class="number">Share</th></tr></thead>
<tbody>${bands.map(
    ({ grade, from, to, wallets }) =>
      html`<tr><th scope="row"><a class="bare" href="/leaderboard?grade=${grade}">${gradeMark(grade)}</a></th><td>${from} to ${to}</td><td class="number">${countWords(wallets)}</td><td class="number">${percentWords(wallets / scored)}</td></tr>`,
  )}</tbody></table></div>`;
}

function renderBars(distribution: ScoreDistribution): Fragment {
  const bins = Array.from({ length: 100 / BIN }, (_, index) => {
    const from = index * BIN;
    // The best score of all stands with those beneath it.
    const to = from + BIN === 100 ? 100 : from + BIN - 1;
    return { from, to, wallets: walletsIn(distribution, from, to) };
  });
  const most = Math.max(...bins.map(({ wallets }) => wallets));
  return html`<g>${bins.map(({ from, to, wallets }) => {
    if (wallets === 0) return "";
    const height = Math.max(2, ((HEIGHT - TOP) * wallets) / most);
    const grade = SCORE_BANDS.find((band) => band.from <= from && to <= band.to)?.grade ?? "none";
    const label =
      wallets === most
        ? html`<text class="strong" x="${percent((from + BIN / 2) / 100)}" y="${HEIGHT - height - 8}" text-anchor="middle">${countWords(wallets)}</text>`
        : "";
    return html`<rect class="in-${grade}" x="${percent((from + 0.35) / 100)}" y="${Math.round((HEIGHT - 4 - height) * 10) / 10}" width="${percent((BIN - 0.7) / 100)}" height="${Math.round(height * 10) / 10}" rx="2"><title>${from} to ${to}: ${countOf(wallets, "wallet")}</title></rect>${label}`;
  })}</g>`;
}

function walletsIn(distribution: ScoreDistribution, from: number, to: number): number {
  return distribution
    .filter(({ score }) => score >= from && score <= to)
    .reduce((sum, { wallets }) => sum + wallets, 0);
}
