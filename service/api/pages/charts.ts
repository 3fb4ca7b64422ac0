import { html } from "hono/html";
import { AHS_2026_2 } from "../../model/score/policy.ts";
import type { Grade, RoutingAction } from "../../model/score/record.ts";
import { defaultAction } from "../../model/score/route.ts";
import type { ScanNight } from "../../registries/nightly/service-records.ts";
import type { ScoreDistribution } from "../../scores/ecosystem.ts";

import { countOf, countWords, dayWords, GRADES, gradeMark, percentWords, routeWords } from "./page-words.ts";
import type { Fragment } from "./prose.ts";

/** The scores of one grade, both ends included. */
type ScoreBand = { readonly grade: Grade; readonly from: number; readonly to: number };

const FLOORS: Readonly<Record<Grade, number>> = { ...AHS_2026_2.grades, F: 0 };

/** Scores of each grade, A first, from the scoring policy. */
const SCORE_BANDS: readonly ScoreBand[] = GRADES.map((grade, index) => {
  const better = GRADES[index - 1];
  return { grade, from: FLOORS[grade], to: better === undefined ? 100 : FLOORS[better] - 1 };
});

export function bandOf(grade: Grade): ScoreBand {
  return { grade, from: FLOORS[grade], to: SCORE_BANDS.find((band) => band.grade === grade)?.to ?? 100 };
}

/** The grade of a score or of a part of one. */
export function gradeOfScore(score: number): Grade {
  return GRADES.find((grade) => score >= FLOORS[grade]) ?? "F";
}

/** Height of a ruler in pixels, without and with the routes. */
export const RULER_HEIGHT = 44;
const ROUTES_HEIGHT = 78;

/** A percentage of a chart's width or height, to a thousandth. */
export function percent(share: number): string {
  return `${Math.round(share * 100_000) / 1_000}%`;
}

/**
 * The ruler of scores: 0 to 100, a band with a letter for each grade, a number at each boundary. For an svg without a viewBox,
 * `y` pixels from its top.
 */
export function renderRuler(y: number): Fragment {
  return html`<g>${SCORE_BANDS.map((band) => {
    const { grade, from } = band;
    const end = endOf(band);
    return html`<rect class="in-${grade}" x="${percent(from / 100)}" y="${y}" width="${percent((end - from) / 100)}" height="6"/><text class="strong" x="${percent((from + end) / 200)}" y="${y + 23}" text-anchor="middle">${grade}</text>${from === 0 ? "" : html`<line class="notch" x1="${percent(from / 100)}" x2="${percent(from / 100)}" y1="${y}" y2="${y + 6}"/>`}`;
  })}</g><g>${[100, ...SCORE_BANDS.map(({ from }) => from)].map(
    (score) =>
      html`<text${score === 100 ? html` class="edge"` : ""} x="${percent(score / 100)}" y="${y + 40}" text-anchor="${score === 0 ? "start" : score === 100 ? "end" : "middle"}">${score}</text>`,
  )}</g>`;
}

function renderRoutedRuler(y: number): Fragment {
  return html`${renderRuler(y)}<g>${routeSpans().map(
    ({ action, from, end }) =>
      html`<line class="span" x1="${percent((from + 0.4) / 100)}" x2="${percent((end - 0.4) / 100)}" y1="${y + 53}" y2="${y + 53}"/><text class="strong" x="${percent((from + end) / 200)}" y="${y + 71}" text-anchor="middle">${routeWords(action)}</text>`,
  )}</g>`;
}

/** Adjacent scores that the default policy routes alike. */
function routeSpans(): readonly {
  readonly action: RoutingAction;
  readonly from: number;
  readonly end: number;
}[] {
  const groups = Map.groupBy(SCORE_BANDS, ({ grade }) =>
    defaultAction({ sanctioned: false, score: { grade, confidenceLevel: "HIGH" } }),
  );
  return [...groups].map(([action, bands]) => ({
    action,
    from: Math.min(...bands.map(({ from }) => from)),
    end: Math.max(...bands.map(endOf)),
  }));
}

function endOf({ to }: ScoreBand): number {
  return to === 100 ? 100 : to + 1;
}

/** Counts over time as bars without an axis; the text says the same to screen readers. */
export function renderSparkline(counts: readonly number[], words: string): Fragment {
  const most = Math.max(1, ...counts);
  const step = 100 / counts.length;
  return html`<svg class="chart spark" width="100%" height="56" role="img" aria-label="${words}">${counts.map(
    (count, index) => {
      const height = count === 0 ? 1 : Math.max(3, (52 * count) / most);
      return html`<rect class="${count === 0 ? "spark-none" : "spark-bar"}" x="${percent((index * step + 0.4) / 100)}" y="${Math.round(54 - height)}" width="${percent((step - 0.8) / 100)}" height="${Math.round(height)}" rx="2"><title>${countWords(count)}</title></rect>`;
    },
  )}</svg>`;
}

/** Points per bar; every grade starts at a bar. */
const BIN = 5;
const HEIGHT = 190;
const TOP = 24;

export function renderEmptyScale(): Fragment {
  return html`<svg class="chart" width="100%" height="${ROUTES_HEIGHT + 2}" role="img" aria-label="Scores from 0 to 100 with their grades, and how a payment is routed at each by default">${renderRoutedRuler(2)}</svg>`;
}

/** Wallets by score, as bars over the ruler and as a table by grade; `scored` is not zero. */
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
    // The top score belongs to the bar below it.
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

const LINES_HEIGHT = 220;

/** Share of the width for the letters of the grades and the numbers of the axis. */
const MARGIN = 0.09;

/** Scores over time as steps between the bands of the grades. */
export function renderLineChart({
  id,
  title,
  description,
  points,
  first,
  last,
}: {
  /** Prefix of element ids; unique on a page. */
  id: string;
  title: string;
  description: string;
  /** In order of time; two or more. */
  points: readonly { readonly at: Date; readonly score: number | null; readonly label: string }[];
  first: string;
  last: string;
}): Fragment {
  const times = points.map(({ at }) => at.getTime());
  const from = Math.min(...times);
  const span = Math.max(1, Math.max(...times) - from);
  const placed = points.map((point) => ({
    ...point,
    x: MARGIN + ((0.99 - MARGIN) * (point.at.getTime() - from)) / span,
  }));
  return html`<svg class="chart" width="100%" height="${LINES_HEIGHT + 26}" role="img" aria-labelledby="${id}-title ${id}-text">
<title id="${id}-title">${title}</title>
<desc id="${id}-text">${description}</desc>
<g>${SCORE_BANDS.map(({ grade, from: low, to }) => {
    const high = to === 100 ? 100 : to + 1;
    return html`<rect class="in-${grade} band" x="0" y="${yOf(high)}" width="100%" height="${yOf(low) - yOf(high)}"/><line class="tick" x1="0" x2="100%" y1="${yOf(low)}" y2="${yOf(low)}"/><text class="strong" x="6" y="${(yOf(low) + yOf(high)) / 2 + 4}">${grade}</text><text class="axis" x="24" y="${yOf(high) + 11}">${high}</text>`;
  })}<text class="axis" x="24" y="${LINES_HEIGHT - 2}">0</text></g>
<svg width="100%" height="${LINES_HEIGHT}" viewBox="0 0 1000 ${LINES_HEIGHT}" preserveAspectRatio="none" overflow="visible">${linesOf(
    placed,
  ).map((line) => html`<polyline class="line" vector-effect="non-scaling-stroke" points="${line}"/>`)}</svg>
<g>${placed.map(({ x, score, label }) =>
    score === null
      ? ""
      : html`<g class="point"><circle class="dot" cx="${percent(x)}" cy="${yOf(score)}" r="${points.length > 40 ? 2 : 3.5}"/><circle class="target" cx="${percent(x)}" cy="${yOf(score)}" r="10"/><title>${label}</title></g>`,
  )}</g>
<text x="0" y="${LINES_HEIGHT + 20}">${first}</text><text x="100%" y="${LINES_HEIGHT + 20}" text-anchor="end">${last}</text>
</svg>`;
}

function yOf(score: number): number {
  return Math.round((LINES_HEIGHT * (100 - score)) / 10) / 10;
}

/** Runs of scores, each level until the next. */
function linesOf(
  points: readonly { readonly x: number; readonly score: number | null }[],
): readonly string[] {
  const runs: string[][] = [[]];
  for (const [index, { x, score }] of points.entries()) {
    if (score === null) {
      runs.push([]);
      continue;
    }
    const until = points[index + 1]?.x ?? x;
    runs.at(-1)?.push(`${thousandths(x)},${yOf(score)}`, `${thousandths(until)},${yOf(score)}`);
  }
  return runs.filter((run) => run.length > 0).map((run) => run.join(" "));
}

/** A share in the units of the plot, to a tenth. */
function thousandths(share: number): number {
  return Math.round(share * 10_000) / 10;
}

/** Nights in the table; the chart shows all. */
const LISTED = 7;

/** Mean score and grades by night; one night alone is no trend. */
export function renderTrend(nights: readonly ScanNight[]): Fragment {
  const newest = nights.at(-1);
  if (newest === undefined)
    return html`<p class="quiet">The trend appears after the second nightly scan.</p>`;
  if (nights.every(({ meanScoreHundredths }) => meanScoreHundredths === null))
    return html`<p class="quiet">No wallet had a score in ${countOf(nights.length, "nightly scan")}.</p>${renderTable(nights)}`;
  if (nights.length === 1)
    return html`<p class="quiet">The trend appears after the second nightly scan.</p>${renderTable(nights)}`;
  const first = nights[0] ?? newest;
  const description = `From ${meanWords(first)} on ${dayWords(first.night)} to ${meanWords(newest)} on ${dayWords(newest.night)}, over ${nights.length} nights.`;
  return html`<p class="quiet">Mean of all scores after each nightly scan.</p>
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
