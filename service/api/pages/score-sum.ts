import { html } from "hono/html";
import type { FeatureLine } from "../../model/score/record.ts";
import { titleOf } from "../../reports/report-card.ts";
import type { AhsRecord } from "../scores/ahs-record-schema.ts";
import type { Fragment } from "./prose.ts";

/** What is written for one line of the total. */
type Words = { readonly title: string; readonly detail: string | null };

/**
 * How the parts of a score become the score: each dimension by its weight, what patterns took, what caps took and why, and the
 * sum. Nothing for a wallet without a score, which has no such lines.
 */
export function renderScoreSum({ ahs_score, features = [], patterns }: AhsRecord): Fragment | string {
  const total: readonly FeatureLine[] = features.filter(({ dimension }) => dimension === "AHS");
  if (ahs_score === null || total.length === 0) return "";
  const names = new Set(patterns.map(({ name }) => name));
  const shown = total.filter(({ name }) => name !== "rounding");
  return html`<section class="panel" aria-labelledby="sum"><h2 id="sum">From parts to score</h2>
<table class="sum"><thead class="hidden"><tr><th scope="col">Part</th><th scope="col" class="number">Points</th></tr></thead>
<tbody>${shown.map((line) => renderLine(wordsOf(line, names.has(line.name)), line.contribution))}</tbody>
<tfoot><tr><th scope="row">Score${shown.length < total.length ? ", in whole points" : ""}</th><td class="number"><b>${ahs_score}</b></td></tr></tfoot></table></section>`;
}

function renderLine({ title, detail }: Words, contribution: number | null): Fragment {
  return html`
<tr><th scope="row">${title}${detail === null ? "" : html` <span class="why">${detail}</span>`}</th><td class="number">${signedPoints(contribution)}</td></tr>`;
}

function wordsOf(line: FeatureLine, isPattern: boolean): Words {
  const { name, score, weight, contribution, reason } = line;
  if (weight > 0 && score !== null)
    return { title: titleOf(name), detail: `${weight.toFixed(2)} × ${score.toFixed(2)} points` };
  if (isPattern) return { title: `Pattern: ${titleOf(name)}`, detail: reason };
  if (name === "effects_floor") return { title: "Given back", detail: reason };
  if (score === null) return { title: "Limit", detail: reason };
  const title = contribution === 0 ? `Limit of ${score}, which takes nothing` : `Limit of ${score}`;
  return { title, detail: reason };
}

/** Hundredths of a point as points, with a sign that shows. */
function signedPoints(hundredths: number | null): string {
  if (hundredths === null) return "–";
  if (hundredths === 0) return "0.00";
  const points = (Math.abs(hundredths) / 100).toFixed(2);
  return hundredths < 0 ? `−${points}` : `+${points}`;
}
