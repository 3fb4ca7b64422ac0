import { html } from "hono/html";
import { Problem } from "../../access/problems.ts";
import type { ConfidenceLevel, Grade } from "../../model/score/record.ts";
import type { RegisteredAgent } from "../../registries/documents/registered-agent.ts";
import { rankOf } from "../../reports/report-card.ts";
import {
  LIST_ORDERS,
  type ListedWallet,
  type ListOrder,
  type ListQuery,
  MOST_LISTED,
} from "../../scores/leaderboard.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { toEip55 } from "../schemas/values.ts";
import { bandOf } from "./charts.ts";
import { answerTable } from "./csv-file.ts";
import { answerPublicPage, type Page, type PageHandler } from "./page.ts";
import type { PagePorts } from "./page-ports.ts";
import {
  ageWords,
  countWords,
  GRADES,
  gradeMark,
  levelWords,
  renderSearch,
  renderWho,
  shortHex,
} from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { answerSearch, shownQuery } from "./search.ts";

const PAGE_SIZE = 50;
const PAGES = MOST_LISTED / PAGE_SIZE;

/** GET /leaderboard: the wallets of a chain in an order, filtered, or found by a search. */
export const leaderboardPage: Page = { path: "/leaderboard", needs: "/ahs/{address}", get: respond };

/** GET /leaderboard.csv: the same wallets as a table for programs. */
export const leaderboardFile: Page = { path: "/leaderboard.csv", needs: "/ahs/{address}", get: respondFile };

async function respond(...[context, runtime]: Parameters<PageHandler>): Promise<Response> {
  const query = shownQuery(context.req.query("q") ?? "");
  if (query !== "") return answerSearch(context, runtime, query);
  const { ports, clock } = runtime;
  const choice = choiceIn(context);
  const page = pageIn(context);
  const offset = (page - 1) * PAGE_SIZE;
  const found = await ports.leaderboard.list({ ...listQuery(choice), offset, limit: PAGE_SIZE + 1 });
  const rows = await describe(found.slice(0, PAGE_SIZE), ports);
  const hasNext = found.length > PAGE_SIZE && page < PAGES;
  const isWhole = choice.show === "scored" && choice.order === "score" && !choice.isRising && page === 1;
  return answerPublicPage(context, {
    title: "Leaderboard",
    path: "/leaderboard",
    ...(isWhole ? { description: "Wallets of autonomous agents ranked by their Agent Health Score." } : {}),
    body: html`<h1>Leaderboard</h1>
${renderSearch("")}
${renderFilters(choice)}
<section class="panel" aria-label="Wallets">${rows.length === 0 ? renderNone(choice, page) : renderRows(rows, { choice, now: clock.now() })}</section>
${renderPaging(choice, { page, hasNext })}`,
  });
}

/** The choices of a list, as its URL has them. */
type Choice = {
  readonly show: "scored" | "unscored" | "sanctioned";
  readonly grade: Grade | null;
  readonly confidence: ConfidenceLevel | null;
  readonly order: ListOrder;
  readonly isRising: boolean;
};

const SHOWN = ["scored", "unscored", "sanctioned"] as const;
const LEVELS = ["HIGH", "MEDIUM", "LOW"] as const;

function choiceIn(context: ApiContext): Choice {
  const given = (name: string) => context.req.query(name) ?? "";
  const grade = oneOf(GRADES, given("grade").toUpperCase(), "a grade from A to F");
  return {
    show: grade === null ? (oneOf(SHOWN, given("show"), SHOWN.join(", ")) ?? "scored") : "scored",
    grade,
    confidence: oneOf(LEVELS, given("confidence").toUpperCase(), LEVELS.join(", ")),
    order: oneOf(LIST_ORDERS, given("sort"), LIST_ORDERS.join(", ")) ?? "score",
    isRising: oneOf(["asc", "desc"] as const, given("dir"), "asc or desc") === "asc",
  };
}

/** The given one of some names; null where none is given. Throws a 400 for another one. */
function oneOf<Name extends string>(names: readonly Name[], given: string, expected: string): Name | null {
  if (given === "") return null;
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  throw new Problem("request-malformed", `Expected ${expected}, got \`${shownQuery(given).slice(0, 40)}\`.`);
}

function pageIn(context: ApiContext): number {
  const given = context.req.query("page") ?? "1";
  const page = /^[1-9][0-9]{0,2}$/.test(given) ? Number(given) : Number.NaN;
  if (page <= PAGES) return page;
  throw new Problem("request-malformed", `The leaderboard has pages from 1 to ${PAGES}.`);
}

function listQuery({ show, grade, ...choice }: Choice): Omit<ListQuery, "offset" | "limit"> {
  if (show !== "scored") return { ...choice, scope: { kind: show } };
  const { from, to } = grade === null ? { from: 0, to: 100 } : bandOf(grade);
  return { ...choice, scope: { kind: "scored", from, to } };
}

/** The path of a list with these choices. */
function pathOf(choice: Choice, { page = 1, file = "/leaderboard" } = {}): string {
  const { show, grade, confidence, order, isRising } = choice;
  const query = new URLSearchParams({
    ...(show === "scored" ? {} : { show }),
    ...(grade === null ? {} : { grade }),
    ...(confidence === null ? {} : { confidence }),
    ...(order === "score" ? {} : { sort: order }),
    ...(isRising ? { dir: "asc" } : {}),
    ...(page === 1 ? {} : { page: String(page) }),
  }).toString();
  return query === "" ? file : `${file}?${query}`;
}

type Row = ListedWallet & {
  /** Null without a score. */
  readonly rank: number | null;
  readonly agents: readonly RegisteredAgent[];
  readonly isSanctioned: boolean;
};

async function describe(
  found: readonly ListedWallet[],
  { agentNames, sanctionedAmong, distribution }: PagePorts,
): Promise<readonly Row[]> {
  const wallets = found.map(({ wallet }) => wallet);
  // Nothing to look up, so an index without tables does not fail the page.
  if (wallets.length === 0) return [];
  const [names, sanctioned, scores] = await Promise.all([
    agentNames(wallets),
    sanctionedAmong(wallets),
    distribution(),
  ]);
  return found.map((one) => ({
    ...one,
    rank: rankOf(one.ahsScore, scores),
    agents: names.get(one.wallet) ?? [],
    isSanctioned: sanctioned.has(one.wallet),
  }));
}

function renderFilters(choice: Choice): Fragment {
  const item = (name: string, changes: Partial<Choice>, isChosen: boolean) =>
    html`<li><a href="${pathOf({ ...choice, ...changes })}"${isChosen ? html` aria-current="true"` : ""}>${name}</a></li>`;
  const { show, grade, confidence } = choice;
  return html`<div class="filters"><nav class="filter" aria-label="Wallets"><ul>
${item("All grades", { show: "scored", grade: null }, show === "scored" && grade === null)}${GRADES.map((one) => item(one, { show: "scored", grade: one }, grade === one))}${item("Unscored", { show: "unscored", grade: null, confidence: null, order: "active" }, show === "unscored")}${item("Sanctioned", { show: "sanctioned", grade: null }, show === "sanctioned")}
</ul></nav>
<nav class="filter" aria-label="Confidence"><ul>${item("Any confidence", { confidence: null }, confidence === null)}${LEVELS.map((one) => item(levelWords(one), { confidence: one }, confidence === one))}</ul></nav></div>`;
}

const COLUMNS: readonly { readonly order: ListOrder; readonly name: string; readonly title: string }[] = [
  { order: "score", name: "Score", title: "Agent Health Score, 0 to 100" },
  { order: "d1", name: "D1", title: "Wallet hygiene, 30% of the score" },
  { order: "d2", name: "D2", title: "Behavioural patterns, 70% of the score" },
  { order: "confidence", name: "Confidence", title: "Confidence of the score" },
  {
    order: "active",
    name: "Last active",
    title: "Last transaction, signed payment or call of its smart account in the index",
  },
];

function renderRows(rows: readonly Row[], { choice, now }: { choice: Choice; now: Date }): Fragment {
  const heading = (order: ListOrder) => {
    const column = COLUMNS.find((one) => one.order === order);
    const isSorted = choice.order === order;
    const sort = isSorted ? html` aria-sort="${choice.isRising ? "ascending" : "descending"}"` : "";
    const isRising = isSorted && !choice.isRising;
    return html`<th scope="col"${sort}><a href="${pathOf({ ...choice, order, isRising })}" title="${column?.title}">${column?.name}</a></th>`;
  };
  return html`<nav class="sorts" aria-label="Order">Sort by ${COLUMNS.map(({ order, name }) => html`<a href="${pathOf({ ...choice, order, isRising: choice.order === order && !choice.isRising })}">${name}${choice.order === order ? (choice.isRising ? " ↑" : " ↓") : ""}</a> `)}</nav>
<table class="stack ranks">
<thead><tr><th scope="col">Rank</th><th scope="col">Wallet</th>${heading("score")}${heading("d1")}${heading("d2")}<th scope="col"><abbr title="Change of the score in 30 days">30 days</abbr></th>${heading("confidence")}${heading("active")}</tr></thead>
<tbody>${rows.map((row) => renderRow(row, now))}</tbody></table>
<form class="actions" id="compare" action="/compare" method="get"><button class="button plain">Compare ticked wallets</button></form>
<p class="quiet small">Equal scores share a rank. Names are given by the agents and are not verified. <a href="${pathOf(choice, { file: "/leaderboard.csv" })}">Download as CSV</a></p>`;
}

function renderRow(row: Row, now: Date): Fragment {
  const { wallet, rank, agents, isSanctioned, ahsScore, grade, d1Score, d2Score, lastActiveAt } = row;
  return html`
<tr><td data-name="Rank">${rank === null ? html`<span class="quiet">–</span>` : countWords(rank)}</td>
<td class="who">${renderTick(row)}${renderWho(wallet, agents)}${isSanctioned ? html` <span class="chip alarm">Sanctioned</span>` : ""}</td>
<td><span class="score">${gradeMark(grade)} <b>${ahsScore ?? ""}</b>${ahsScore === null ? "" : html`<svg class="bar" width="72" height="6" aria-hidden="true"><rect class="track" width="100%" height="6" rx="3"/><rect class="in-${grade}" width="${ahsScore}%" height="6" rx="3"/></svg>`}</span></td>
<td data-name="D1">${d1Score ?? "–"}</td>
<td data-name="D2">${d2Score ?? "–"}</td>
<td data-name="30 days">${renderChange(row)}</td>
<td data-name="Confidence">${levelWords(row.confidenceLevel)}</td>
<td data-name="Last active">${lastActiveAt === null ? "–" : html`<span title="${lastActiveAt.toISOString()}">${ageWords(lastActiveAt, now)}</span>`}</td></tr>`;
}

/** A box of the form below the table. */
function renderTick({ wallet }: Row): Fragment {
  const address = toEip55(wallet);
  return html`<input class="tick" type="checkbox" form="compare" name="addresses" value="${address}" aria-label="Compare ${shortHex(address)}">`;
}

function renderChange({ ahsScore, earlierScore }: ListedWallet): Fragment | string {
  if (ahsScore === null || earlierScore === null) return html`<span class="quiet">–</span>`;
  const change = ahsScore - earlierScore;
  if (change === 0) return html`<span class="quiet">±0</span>`;
  return html`<span class="${change > 0 ? "up" : "down"}">${change > 0 ? `+${change}` : `−${-change}`}</span>`;
}

function renderNone({ show, grade, confidence }: Choice, page: number): Fragment {
  if (page > 1)
    return html`<p class="quiet">This page is empty. <a href="/leaderboard">Go to the first page</a>.</p>`;
  if (confidence !== null) return html`<p class="quiet">No wallet matches these filters.</p>`;
  if (show === "unscored") return html`<p class="quiet">Every wallet in the index has a score.</p>`;
  if (show === "sanctioned") return html`<p class="quiet">No wallet in the index is sanctioned.</p>`;
  if (grade === null)
    return html`<p class="quiet">No wallet has a score yet. Scores appear once the index holds final blocks with transactions of agents.</p>`;
  const { from, to } = bandOf(grade);
  return html`<p class="quiet">No wallet has grade ${grade}, a score of ${from} to ${to}.</p>`;
}

function renderPaging(
  choice: Choice,
  { page, hasNext }: { page: number; hasNext: boolean },
): Fragment | string {
  const end =
    page === PAGES
      ? html`<p class="quiet">The list ends after ${countWords(MOST_LISTED)} wallets. The search finds all others.</p>`
      : "";
  if (page === 1 && !hasNext) return "";
  return html`${end}<nav class="actions" aria-label="Pages">${page === 1 ? "" : html`<a class="button plain" rel="prev" href="${pathOf(choice, { page: page - 1 })}">Previous page</a>`}<span class="page-number">Page ${page}</span>${hasNext ? html`<a class="button plain" rel="next" href="${pathOf(choice, { page: page + 1 })}">Next page</a>` : ""}</nav>`;
}

async function respondFile(...[context, { ports }]: Parameters<PageHandler>): Promise<Response> {
  const query = listQuery(choiceIn(context));
  const rows = await describe(
    await ports.leaderboard.list({ ...query, offset: 0, limit: MOST_LISTED }),
    ports,
  );
  return answerTable(context, {
    name: "leaderboard",
    columns: FILE_COLUMNS,
    rows: rows.map((row) => [
      row.rank,
      toEip55(row.wallet),
      row.agents[0]?.agentId ?? null,
      row.agents[0]?.name ?? null,
      row.agents[0]?.registry?.name ?? null,
      row.ahsScore,
      row.grade,
      row.d1Score,
      row.d2Score,
      row.earlierScore,
      row.confidenceMicros / 1_000_000,
      row.confidenceLevel,
      row.lastActiveAt,
      row.isSanctioned,
    ]),
  });
}

const FILE_COLUMNS = [
  ...[
    "rank",
    "wallet",
    "agent_id",
    "agent_name",
    "agent_registry",
    "ahs_score",
    "grade",
    "d1_score",
    "d2_score",
  ],
  ...["ahs_score_30_days_ago", "confidence", "confidence_level", "last_active_at", "sanctioned"],
];
