import { html } from "hono/html";
import { percent } from "./chart-parts.ts";
import type { Fragment } from "./prose.ts";
import { SCORE_BANDS } from "./score-bands.ts";

/** One score of a line, which holds until the next; null is a gap. */
type LinePoint = { readonly at: Date; readonly score: number | null; readonly label: string };

type LineChart = {
  /** For the ids of its parts; once a page. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** By rising time; two or more. */
  readonly points: readonly LinePoint[];
  readonly first: string;
  readonly last: string;
};

const HEIGHT = 220;

/** Part of the width that the letters of the grades take, before the first point. */
const MARGIN = 0.08;

/** Scores over time as steps between the bands of the grades; the points stand where their time puts them. */
export function renderLineChart({ id, title, description, points, first, last }: LineChart): Fragment {
  const times = points.map(({ at }) => at.getTime());
  const from = Math.min(...times);
  const span = Math.max(1, Math.max(...times) - from);
  const placed = points.map((point) => ({
    ...point,
    x: MARGIN + ((0.99 - MARGIN) * (point.at.getTime() - from)) / span,
  }));
  return html`<svg class="chart" width="100%" height="${HEIGHT + 26}" role="img" aria-labelledby="${id}-title ${id}-text">
<title id="${id}-title">${title}</title>
<desc id="${id}-text">${description}</desc>
<g>${SCORE_BANDS.map(({ grade, from: low, to }) => {
    const high = to === 100 ? 100 : to + 1;
    return html`<rect class="in-${grade} band" x="0" y="${yOf(high)}" width="100%" height="${yOf(low) - yOf(high)}"/><line class="tick" x1="0" x2="100%" y1="${yOf(low)}" y2="${yOf(low)}"/><text class="strong" x="6" y="${(yOf(low) + yOf(high)) / 2 + 4}">${grade}</text>`;
  })}</g>
<svg width="100%" height="${HEIGHT}" viewBox="0 0 1000 ${HEIGHT}" preserveAspectRatio="none" overflow="visible">${linesOf(
    placed,
  ).map((line) => html`<polyline class="line" vector-effect="non-scaling-stroke" points="${line}"/>`)}</svg>
<g>${placed.map(({ x, score, label }) =>
    score === null
      ? ""
      : html`<circle class="dot" cx="${percent(x)}" cy="${yOf(score)}" r="${points.length > 40 ? 2 : 3.5}"><title>${label}</title></circle>`,
  )}</g>
<text x="0" y="${HEIGHT + 20}">${first}</text><text x="100%" y="${HEIGHT + 20}" text-anchor="end">${last}</text>
</svg>`;
}

function yOf(score: number): number {
  return Math.round((HEIGHT * (100 - score)) / 10) / 10;
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
