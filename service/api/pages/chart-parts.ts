import { html } from "hono/html";
import type { RoutingAction } from "../../model/score/record.ts";
import { DEFAULT_ROUTING, routeWallet } from "../../model/score/route.ts";
import { routeWords } from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { SCORE_BANDS, type ScoreBand } from "./score-bands.ts";

/** Pixels that a ruler takes, and one with the routes beneath it. */
export const RULER_HEIGHT = 44;
export const ROUTES_HEIGHT = 78;

/** A percentage of a chart's width or height, to a thousandth. */
export function percent(share: number): string {
  return `${Math.round(share * 100_000) / 1_000}%`;
}

/**
 * The ruler that all scores are read from: 0 to 100, a band for each grade with its letter, a number where one ends. Within an
 * svg without a viewBox, `y` pixels from its top.
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

/** The ruler with what the default policy does with a payment at each score. */
export function renderRoutedRuler(y: number): Fragment {
  return html`${renderRuler(y)}<g>${routeSpans().map(
    ({ action, from, end }) =>
      html`<line class="span" x1="${percent((from + 0.4) / 100)}" x2="${percent((end - 0.4) / 100)}" y1="${y + 53}" y2="${y + 53}"/><text class="strong" x="${percent((from + end) / 200)}" y="${y + 71}" text-anchor="middle">${routeWords(action)}</text>`,
  )}</g>`;
}

type RouteSpan = { readonly action: RoutingAction; readonly from: number; readonly end: number };

/** Scores that the default policy routes alike; by it these are neighbours. */
function routeSpans(): readonly RouteSpan[] {
  const groups = Map.groupBy(SCORE_BANDS, ({ grade }) => {
    const score = { kind: "scored", grade, confidenceLevel: "HIGH" } as const;
    return routeWallet(DEFAULT_ROUTING, { wallet: "0x", sanctioned: false, score }).action;
  });
  return [...groups].map(([action, bands]) => ({
    action,
    from: Math.min(...bands.map(({ from }) => from)),
    end: Math.max(...bands.map(endOf)),
  }));
}

/** Where a band's part of the ruler ends: where the next begins. */
function endOf({ to }: ScoreBand): number {
  return to === 100 ? 100 : to + 1;
}
