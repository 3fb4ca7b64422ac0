import { html } from "hono/html";
import { Problem } from "../../access/problems.ts";
import { AHS_2026_2 } from "../../model/score/policy.ts";
import { gradeReason } from "../../reports/explain-score.ts";
import type { GradePoint, HistoryPage } from "../../scores/score-history.ts";
import type { ScorePoint } from "../../scores/stored-score.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { getAhsHistory } from "../routes/get-ahs-history.ts";
import { toEip55 } from "../schemas/values.ts";
import { answerTable } from "./csv-file.ts";
import { answerPublicPage, type Page, type PageHandler, redirectTo } from "./page.ts";
import { countOf, gradeMark, levelWords, percentWords, timeTag } from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { renderScoreLine } from "./reports/score-report.ts";
import {
  addressOf,
  HISTORY_TAB,
  readHead,
  renderWalletHead,
  type WalletHead,
  walletName,
} from "./wallet-head.ts";

const NEEDS = getAhsHistory.path;
/** Days on one page. */
const DAYS = 365;
const CHANGES = 100;
/** Days in the file: ten years. */
const FILE_DAYS = 3_650;

/** GET /wallet/{address}/history: the stored scores of a wallet as a line and as tables. */
export const walletHistoryPage: Page = { path: "/wallet/{address}/history", needs: NEEDS, get: show };

/** GET /wallet/{address}/history.csv: its daily scores as a table for programs. */
export const walletHistoryFile: Page = {
  path: "/wallet/{address}/history.csv",
  needs: NEEDS,
  get: respondFile,
};

type HistoryView = {
  readonly head: WalletHead;
  readonly days: HistoryPage<ScorePoint>;
  readonly changes: HistoryPage<GradePoint>;
  /** Null on the first page. */
  readonly before: Date | null;
};

async function show(...[context, runtime]: Parameters<PageHandler>): Promise<Response> {
  const address = addressOf(context);
  const name = toEip55(address);
  if (context.req.param("address") !== name)
    return redirectTo(context, `/wallet/${name}/history`, { status: 308 });
  const before = timeIn(context);
  const { scoreHistory } = runtime.ports;
  const [head, days, changes] = await Promise.all([
    readHead(address, runtime),
    scoreHistory.daily(address, { before, limit: DAYS }),
    scoreHistory.gradeChanges(address, { before, limit: CHANGES }),
  ]);
  return answerPublicPage(context, renderPage({ head, days, changes, before }));
}

/** The time before which scores are shown; null for the newest. Throws a 400 for another text. */
function timeIn(context: ApiContext): Date | null {
  const given = context.req.query("before") ?? "";
  if (given === "") return null;
  const time = new Date(/^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00:00Z` : Number.NaN);
  if (!Number.isNaN(time.getTime())) return time;
  throw new Problem("request-malformed", "Expected `before` to be a day, such as 2026-11-20.");
}

function renderPage(view: HistoryView) {
  const { head, days, changes, before } = view;
  const path = `/wallet/${toEip55(head.address)}/history`;
  const readings = days.points.map(({ asOfTime, ahsScore }) => ({
    as_of_time: asOfTime.toISOString(),
    ahs_score: ahsScore,
  }));
  return {
    title: `History of ${walletName(head)}`,
    path,
    body: html`${renderWalletHead(head, HISTORY_TAB)}
<section class="panel" aria-labelledby="line"><h2 id="line">Score over time</h2>
${renderScoreLine(readings)}
<p class="quiet small">The last score of each UTC day. <a href="${path}.csv">Download as CSV</a></p></section>
<section class="panel" aria-labelledby="changes"><h2 id="changes">Changes of grade</h2>${renderChanges(changes)}</section>
<section class="panel" aria-labelledby="days"><h2 id="days">Scores by day</h2>${renderDays(days.points)}</section>
${before === null && days.next === null ? "" : renderPaging(path, view)}`,
  };
}

/** The earlier and the new grade; the mark alone for a first score without a grade, which is no change. */
function renderMove({ previousGrade, grade }: GradePoint): Fragment {
  return previousGrade === grade
    ? gradeMark(grade)
    : html`<span class="move">${gradeMark(previousGrade)} <span aria-hidden="true">→</span><span class="hidden"> to </span> ${gradeMark(grade)}</span>`;
}

function renderChanges({ points, next }: HistoryPage<GradePoint>): Fragment {
  if (points.length === 0) return html`<p class="quiet">No grade is stored for this time.</p>`;
  return html`<table class="stack">
<thead><tr><th scope="col">As of</th><th scope="col">Grade</th><th scope="col" class="number">Score</th><th scope="col">Why the new grade is what it is</th></tr></thead>
<tbody>${points.map(
    (point) => html`
<tr><th scope="row">${timeTag(point.asOfTime)}</th><td>${renderMove(point)}</td><td class="number" data-name="Score">${point.ahsScore ?? "–"}</td><td>${gradeReason(point, AHS_2026_2)}</td></tr>`,
  )}</tbody></table>
<p class="quiet small">${next === null ? "The last row is the wallet's first score." : html`The newest ${countOf(points.length, "change")}; programs get all of them with <code>GET ${NEEDS}?points=grade_changes</code>.`} <a href="/feed.xml">Feed of published changes of all wallets</a></p>`;
}

function renderDays(points: readonly ScorePoint[]): Fragment {
  if (points.length === 0) return html`<p class="quiet">No score is stored for this time.</p>`;
  return html`<table class="stack">
<caption>${countOf(points.length, "day")} with a score, newest first</caption>
<thead><tr><th scope="col">As of</th><th scope="col">Grade</th><th scope="col" class="number">Score</th><th scope="col" class="number"><abbr title="Wallet hygiene">D1</abbr></th><th scope="col" class="number"><abbr title="Behavioural patterns">D2</abbr></th><th scope="col">Confidence</th><th scope="col">Model</th></tr></thead>
<tbody>${points.map(
    ({ asOfTime, grade, ahsScore, d1Score, d2Score, confidenceLevel, confidenceMicros, ...point }) => html`
<tr><th scope="row">${timeTag(asOfTime)}</th><td>${gradeMark(grade)}${point.sanctioned ? html` <span class="chip alarm">Sanctioned</span>` : ""}</td><td class="number" data-name="Score">${ahsScore ?? "–"}</td><td class="number" data-name="D1">${d1Score ?? "–"}</td><td class="number" data-name="D2">${d2Score ?? "–"}</td><td data-name="Confidence">${levelWords(confidenceLevel)} <span class="quiet">(${percentWords(confidenceMicros / 1_000_000)})</span></td><td data-name="Model">${point.modelVersion}</td></tr>`,
  )}</tbody></table>`;
}

function renderPaging(path: string, { days: { next }, before }: HistoryView): Fragment {
  return html`<nav class="actions" aria-label="Pages">${before === null ? "" : html`<a class="button plain" href="${path}">Newest days</a>`}${next === null ? "" : html`<a class="button plain" rel="next" href="${path}?before=${next.toISOString().slice(0, 10)}">Earlier days</a>`}</nav>`;
}

async function respondFile(...[context, { ports }]: Parameters<PageHandler>): Promise<Response> {
  const address = addressOf(context);
  const { points } = await ports.scoreHistory.daily(address, { before: null, limit: FILE_DAYS });
  return answerTable(context, {
    name: `score-history-${address}`,
    columns: FILE_COLUMNS,
    rows: points.map((point) => [
      point.asOfTime,
      point.asOfBlock,
      point.ahsScore,
      point.grade,
      point.d1Score,
      point.d2Score,
      point.confidenceMicros / 1_000_000,
      point.confidenceLevel,
      point.sanctioned,
      point.modelVersion,
      point.inputsHash,
    ]),
  });
}

const FILE_COLUMNS = [
  ...["as_of_time", "as_of_block", "ahs_score", "grade", "d1_score", "d2_score", "confidence"],
  ...["confidence_level", "sanctioned", "model_version", "inputs_hash"],
];
