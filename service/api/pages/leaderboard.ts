import { html } from "hono/html";
import type { Address } from "viem";
import { Problem } from "../../access/problems.ts";
import type { Grade } from "../../model/score/record.ts";
import { defaultAction } from "../../model/score/route.ts";
import type { RegisteredAgent } from "../../registries/documents/agent-names.ts";
import type { ScoreDistribution } from "../../scores/ecosystem.ts";
import { type FoundAgent, MOST_NAMES, type RankedWallet, type RankPlace } from "../../scores/leaderboard.ts";

import { toEip55 } from "../schemas/values.ts";
import { bandOf } from "./charts.ts";
import type { PageContent } from "./frame.ts";
import { answerPublicPage, type Page, type PageHandler, redirectTo } from "./page.ts";
import type { PagePorts } from "./page-ports.ts";
import {
  agentName,
  countWords,
  GRADES,
  gradeMark,
  levelWords,
  renderGradeFilter,
  renderSearch,
  routeWords,
  walletLink,
} from "./page-words.ts";
import type { Fragment } from "./prose.ts";

const PAGE_SIZE = 50;

/** GET /leaderboard: scored wallets in order, by grade, or found by a search. */
export const leaderboardPage: Page = { path: "/leaderboard", needs: "/ahs/{address}", get: respond };

async function respond(...[context, { ports }]: Parameters<PageHandler>): Promise<Response> {
  const query = shownQuery(context.req.query("q") ?? "");
  const search = searchFor(query);
  if (search.kind === "address")
    return redirectTo(context, `/wallet/${toEip55(search.address)}`, { status: 303 });
  if (search.kind !== "all") {
    const page = pageFrom(context.req.query("page"));
    const { found, ...size } = await find(search, page, ports);
    const rows = await describe(found, ports);
    return answerPublicPage(context, renderLeaderboard({ kind: "search", query, rows, page, ...size }));
  }
  const grade = gradeFrom(context.req.query("grade"));
  const after = placeFrom(context.req.query("after"));
  const { from, to } = grade === null ? { from: 0, to: 100 } : bandOf(grade);
  const wallets = await ports.leaderboard.page({ scores: [from, to], after, limit: PAGE_SIZE + 1 });
  const shown = wallets.slice(0, PAGE_SIZE);
  const described = await describe(shown.map(rankedOnly), ports);
  const rows = after === null && grade === null ? rankedFromFirst(described) : described;
  const next = wallets.length > PAGE_SIZE ? placeText(shown.at(-1)) : null;
  return answerPublicPage(
    context,
    renderLeaderboard({ kind: "ranks", grade, rows, isFirst: after === null, next }),
  );
}

/** A row before its names and flags are loaded. */
type Found = {
  readonly wallet: Address | null;
  readonly ranked: RankedWallet | null;
  readonly agent: FoundAgent | null;
};

function rankedOnly(ranked: RankedWallet): Found {
  return { wallet: ranked.wallet, ranked, agent: null };
}

async function find(
  search: Exclude<ReturnType<typeof searchFor>, { kind: "all" | "address" }>,
  page: number,
  { leaderboard }: PagePorts,
): Promise<Pick<Results, "hasNext" | "isCut"> & { readonly found: readonly Found[] }> {
  if (search.kind === "prefix") {
    const wallets = await leaderboard.byPrefix(search.prefix, PAGE_SIZE + 1);
    const found = wallets.slice(0, PAGE_SIZE).map(rankedOnly);
    return { found, hasNext: false, isCut: wallets.length > PAGE_SIZE };
  }
  const offset = (page - 1) * PAGE_SIZE;
  const [byNumber, named] = await Promise.all([
    search.kind === "agent" && page === 1 ? leaderboard.byAgentId(search.agentId) : null,
    leaderboard.byName(search.name, { offset, limit: PAGE_SIZE }),
  ]);
  const others = named.agents.filter(({ agentId }) => agentId !== byNumber?.agentId);
  const hasNext = named.total > offset + PAGE_SIZE;
  const found = [...(byNumber === null ? [] : [byNumber]), ...others].map(agentOnly);
  return { found, hasNext, isCut: named.isCut && !hasNext };
}

function agentOnly(agent: FoundAgent): Found {
  return { wallet: agent.wallet, ranked: agent.ranked, agent };
}

async function describe(
  found: readonly Found[],
  { agentNames, sanctionedAmong, distribution }: PagePorts,
): Promise<readonly LeaderboardRow[]> {
  const wallets = found.flatMap(({ wallet }) => (wallet === null ? [] : [wallet]));
  // Nothing to look up, so an index without tables does not fail the page.
  if (wallets.length === 0)
    return found.map((one) => rowOf(one, { agents: [], sanctioned: false, rank: null }));
  const [names, sanctioned, scores] = await Promise.all([
    agentNames(wallets),
    sanctionedAmong(wallets),
    distribution(),
  ]);
  return found.map((one) =>
    rowOf(one, {
      agents: one.wallet === null ? [] : (names.get(one.wallet) ?? []),
      sanctioned: one.wallet !== null && sanctioned.has(one.wallet),
      rank: rankOf(one.ranked?.ahsScore ?? null, scores),
    }),
  );
}

function rowOf(
  { wallet, ranked, agent }: Found,
  more: Pick<LeaderboardRow, "agents" | "sanctioned" | "rank">,
): LeaderboardRow {
  return { ...more, wallet, ranked, agents: agent === null ? more.agents : [agent] };
}

/** One more than the wallets with a better score; null without a score. Equal scores share a rank. */
export function rankOf(score: number | null, distribution: ScoreDistribution): number | null {
  if (score === null) return null;
  return distribution.reduce((rank, one) => (one.score > score ? rank + one.wallets : rank), 1);
}

/** Ranks of the first page by its rows only, because the cached counts may be seconds older. */
function rankedFromFirst(rows: readonly LeaderboardRow[]): readonly LeaderboardRow[] {
  const scores = rows.map(({ ranked }) => ranked?.ahsScore);
  return rows.map((row) => ({ ...row, rank: scores.indexOf(row.ranked?.ahsScore) + 1 }));
}

function gradeFrom(given: string | undefined): Grade | null {
  if (given === undefined || given === "") return null;
  const grade = GRADES.find((one) => one === given.toUpperCase());
  if (grade === undefined) throw new Problem("request-malformed", "A grade is one letter from A to F.");
  return grade;
}

const PAGES = MOST_NAMES / PAGE_SIZE;

function pageFrom(given: string | undefined): number {
  if (given === undefined) return 1;
  const page = /^[1-9][0-9]?$/.test(given) ? Number(given) : Number.NaN;
  if (page <= PAGES) return page;
  throw new Problem("request-malformed", `A search has pages from 1 to ${PAGES}.`);
}

const PLACE = /^(100|[0-9]{1,2})-([0-9]{1,7})-(0x[0-9a-f]{40})$/;

function placeFrom(given: string | undefined): RankPlace | null {
  if (given === undefined) return null;
  const [, score, confidence, wallet] = PLACE.exec(given) ?? [];
  if (score === undefined || confidence === undefined || wallet === undefined)
    throw new Problem("request-malformed", "This is no place in the leaderboard; begin at its first page.");
  // The pattern matches addresses only.
  return { ahsScore: Number(score), confidenceMicros: Number(confidence), wallet: wallet as Address };
}

function placeText(wallet: RankedWallet | undefined): string | null {
  if (wallet === undefined || wallet.ahsScore === null) return null;
  return `${wallet.ahsScore}-${wallet.confidenceMicros}-${wallet.wallet}`;
}

type LeaderboardRow = {
  /** Lower-case; null for an agent without a wallet. */
  readonly wallet: Address | null;
  /** Null if the wallet was never scored. */
  readonly ranked: RankedWallet | null;
  /** Null without a score. */
  readonly rank: number | null;
  readonly agents: readonly Pick<RegisteredAgent, "agentId" | "name">[];
  readonly sanctioned: boolean;
};

type Ranks = {
  readonly kind: "ranks";
  readonly grade: Grade | null;
  readonly rows: readonly LeaderboardRow[];
  /** Whether the page starts with the best score. */
  readonly isFirst: boolean;
  /** Cursor of the next page; null on the last. */
  readonly next: string | null;
};

type Results = {
  readonly kind: "search";
  readonly query: string;
  readonly rows: readonly LeaderboardRow[];
  readonly page: number;
  readonly hasNext: boolean;
  /** Whether there may be more results than all pages show. */
  readonly isCut: boolean;
};

function renderLeaderboard(view: Ranks | Results): PageContent {
  const isSearch = view.kind === "search";
  return {
    title: isSearch ? "Search" : "Leaderboard",
    path: "/leaderboard",
    ...(isSearch ? {} : { description: "Wallets of autonomous agents by their Agent Health Score." }),
    body: html`<h1>${isSearch ? `Results for “${view.query}”` : "Leaderboard"}</h1>
${renderSearch(isSearch ? view.query : "")}
${isSearch ? renderSearchOrder(view) : renderGradeFilter(view.grade)}
<section class="panel" aria-label="${isSearch ? "Results" : "Wallets by score"}">${view.rows.length === 0 ? renderNone(view) : renderRows(view.rows)}</section>
${isSearch ? renderSearchEnd(view) : renderPaging(view)}`,
  };
}

function renderSearchOrder({ query, rows }: Results): Fragment {
  const order = /^0x[0-9a-f]*$/i.test(query) ? "By address." : "The best scores first.";
  return html`<p>${rows.length === 0 ? "" : html`<span class="quiet">${order}</span> `}<a href="/leaderboard">Back to all wallets by score</a></p>`;
}

function renderRows(rows: readonly LeaderboardRow[]): Fragment {
  return html`<table class="stack ranks">
<thead><tr><th scope="col">Rank</th><th scope="col">Wallet</th><th scope="col">Score</th><th scope="col">Confidence</th><th scope="col">Payments by default</th></tr></thead>
<tbody>${rows.map(renderRow)}</tbody></table>
<p class="quiet small">Equal scores share a rank. Names are what agents call themselves; they are not verified.</p>`;
}

function renderRow(row: LeaderboardRow): Fragment {
  const { wallet, ranked, rank, agents, sanctioned } = row;
  const names = agents.map((agent) => html`<span class="agent">${agentName(agent)}</span>`);
  return html`
<tr><td data-name="Rank">${rank === null ? html`<span class="quiet">–</span>` : countWords(rank)}</td>
<td class="who">${wallet === null ? html`<span class="quiet">no wallet</span>` : walletLink(wallet)}${sanctioned ? html` <span class="chip alarm">Sanctioned</span>` : ""}${names}</td>
<td><span class="score">${gradeMark(ranked?.grade ?? null)} <b>${ranked === null ? "never scored" : (ranked.ahsScore ?? html`<span class="roomy">not enough history</span>`)}</b>${renderBar(ranked)}</span></td>
<td data-name="Confidence">${ranked === null ? "–" : levelWords(ranked.confidenceLevel)}</td>
<td data-name="Payments">${wallet === null ? "–" : routeWords(defaultAction({ sanctioned, score: ranked }))}</td></tr>`;
}

function renderBar(ranked: RankedWallet | null): Fragment | string {
  if (ranked === null || ranked.ahsScore === null) return "";
  return html`<svg class="bar" width="96" height="6" aria-hidden="true"><rect class="track" width="100%" height="6" rx="3"/><rect class="in-${ranked.grade}" width="${ranked.ahsScore}%" height="6" rx="3"/></svg>`;
}

function renderNone(view: Ranks | Results): Fragment {
  if (view.kind === "search" && view.page > 1) return html`<p class="quiet">This page is empty.</p>`;
  if (view.kind === "search")
    return html`<p>Nothing was found.</p><p class="quiet">A search takes an address or its beginning, the number of an agent, or the beginning of an agent's name. A wallet that was never scored is found by its whole address alone.</p>`;
  if (!view.isFirst)
    return html`<p class="quiet">No wallet comes after this place. <a href="/leaderboard">Begin at the first page</a>.</p>`;
  if (view.grade === null)
    return html`<p class="quiet">No wallet has a score yet. The first ones come once the index holds final blocks with calls of agents.</p>`;
  const { from, to } = bandOf(view.grade);
  return html`<p class="quiet">No wallet has grade ${view.grade}, a score of ${from} to ${to}.</p>`;
}

function renderPaging({ grade, isFirst, next }: Ranks): Fragment | string {
  const scope = grade === null ? "" : `grade=${grade}`;
  const first = scope === "" ? "/leaderboard" : `/leaderboard?${scope}`;
  if (isFirst && next === null) return "";
  return html`<nav class="actions" aria-label="Pages">${isFirst ? "" : html`<a class="button plain" href="${first}">First page</a>`}${next === null ? "" : html`<a class="button plain" rel="next" href="/leaderboard?${scope === "" ? "" : `${scope}&`}after=${next}">Next page</a>`}</nav>`;
}

function renderSearchEnd({ query, page, hasNext, isCut }: Results): Fragment {
  const first = `/leaderboard?q=${encodeURIComponent(query)}`;
  const before = page === 2 ? first : `${first}&page=${page - 1}`;
  return html`${isCut ? html`<p class="quiet">There may be more; a longer query narrows them down.</p>` : ""}${
    page === 1 && !hasNext
      ? ""
      : html`<nav class="actions" aria-label="Pages">${page === 1 ? "" : html`<a class="button plain" rel="prev" href="${before}">Previous page</a>`}${hasNext ? html`<a class="button plain" rel="next" href="${first}&page=${page + 1}">Next page</a>` : ""}</nav>`
  }`;
}

const MAX_CHARACTERS = 128;

/** A query for display: one line, without invisible characters. */
export function shownQuery(given: string): string {
  // Cut before removing invisible characters, because a URL cannot carry half a surrogate pair.
  return given.replace(/\s+/gu, " ").slice(0, MAX_CHARACTERS).replace(/\p{C}/gu, "").trim();
}

/**
 * Interprets a query from `shownQuery`: the whole leaderboard, one wallet or the beginning of an address, both lower-case, a
 * name, or an agent number, which may also be a name.
 */
export function searchFor(query: string) {
  if (query === "") return { kind: "all" as const };
  const lower = query.toLowerCase();
  // The pattern matches addresses only.
  if (/^0x[0-9a-f]{40}$/.test(lower)) return { kind: "address" as const, address: lower as Address };
  if (/^0x[0-9a-f]*$/.test(lower) && lower.length < 42) return { kind: "prefix" as const, prefix: lower };
  const number = /^#?([0-9]{1,77})$/.exec(query)?.[1];
  return number === undefined
    ? { kind: "name" as const, name: query }
    : { kind: "agent" as const, agentId: BigInt(number), name: query };
}
