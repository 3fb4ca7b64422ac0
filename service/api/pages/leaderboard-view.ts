import { html } from "hono/html";
import type { Address } from "viem";
import type { Grade } from "../../model/score/record.ts";
import { DEFAULT_ROUTING, routeWallet } from "../../model/score/route.ts";
import type { RegisteredAgent } from "../../registries/documents/agent-names.ts";
import type { RankedWallet } from "../../scores/leaderboard.ts";
import { agentName } from "./agent-name.ts";
import type { PageContent } from "./frame.ts";
import { countWords, gradeMark, levelWords, routeWords, walletLink } from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { bandOf } from "./score-bands.ts";
import { renderGradeFilter, renderSearch } from "./search-form.ts";

/** A line of the leaderboard. */
export type LeaderboardRow = {
  /** Lower-case; null for an agent that has none. */
  readonly wallet: Address | null;
  /** Null for a wallet that was never scored. */
  readonly ranked: RankedWallet | null;
  /** Null without a score. */
  readonly rank: number | null;
  readonly agents: readonly Pick<RegisteredAgent, "agentId" | "name">[];
  readonly sanctioned: boolean;
};

type LeaderboardView =
  | {
      readonly kind: "ranks";
      readonly grade: Grade | null;
      readonly rows: readonly LeaderboardRow[];
      /** Whether it begins with the best. */
      readonly isFirst: boolean;
      /** The place behind which the next page begins; null on the last. */
      readonly next: string | null;
    }
  | {
      readonly kind: "search";
      readonly query: string;
      readonly rows: readonly LeaderboardRow[];
      /** From 1 on. */
      readonly page: number;
      readonly hasNext: boolean;
      /** Whether there may be more than all pages show. */
      readonly isCut: boolean;
    };

/** The leaderboard, or what a search found. */
export function renderLeaderboard(view: LeaderboardView): PageContent {
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

/** What a search is ordered by, and the way back from it. */
function renderSearchOrder({ query, rows }: Extract<LeaderboardView, { readonly kind: "search" }>): Fragment {
  const order = /^0x[0-9a-f]*$/i.test(query) ? "By address." : "The best scores first.";
  return html`<p>${rows.length === 0 ? "" : html`<span class="quiet">${order}</span> `}<a href="/leaderboard">Back to all wallets by score</a></p>`;
}

function renderRows(rows: readonly LeaderboardRow[]): Fragment {
  return html`<table class="stack ranks">
<thead><tr><th scope="col">Rank</th><th scope="col">Wallet</th><th scope="col">Score</th><th scope="col">Confidence</th><th scope="col">Payments by default</th></tr></thead>
<tbody>${rows.map(renderRow)}</tbody></table>
<p class="quiet small">Equal scores share a rank. Names are what agents call themselves; nobody has checked them.</p>`;
}

function renderRow({ wallet, ranked, rank, agents, sanctioned }: LeaderboardRow): Fragment {
  const names = agents.map((agent) => html`<span class="agent">${agentName(agent)}</span>`);
  return html`
<tr><td data-name="Rank">${rank === null ? html`<span class="quiet">–</span>` : countWords(rank)}</td>
<td class="who">${wallet === null ? html`<span class="quiet">no wallet</span>` : walletLink(wallet)}${sanctioned ? html` <span class="chip alarm">Sanctioned</span>` : ""}${names}</td>
<td><span class="score">${gradeMark(ranked?.grade ?? null)} <b>${ranked === null ? "never scored" : (ranked.ahsScore ?? html`<span class="roomy">not enough history</span>`)}</b>${renderBar(ranked)}</span></td>
<td data-name="Confidence">${ranked === null ? "–" : levelWords(ranked.confidenceLevel)}</td>
<td data-name="Payments">${wallet === null ? "–" : routeWords(actionFor({ wallet, ranked, sanctioned }))}</td></tr>`;
}

/** The score as a length, beside its number. */
function renderBar(ranked: RankedWallet | null): Fragment | string {
  if (ranked === null || ranked.ahsScore === null) return "";
  return html`<svg class="bar" width="96" height="6" aria-hidden="true"><rect class="track" width="100%" height="6" rx="3"/><rect class="in-${ranked.grade}" width="${ranked.ahsScore}%" height="6" rx="3"/></svg>`;
}

/** What the default policy does with a payment to the wallet. */
function actionFor({
  wallet,
  ranked,
  sanctioned,
}: {
  readonly wallet: Address;
  readonly ranked: RankedWallet | null;
  readonly sanctioned: boolean;
}) {
  const { grade, confidenceLevel } = ranked ?? { grade: null, confidenceLevel: "INSUFFICIENT" as const };
  const score =
    grade === null
      ? ({ kind: "insufficient" } as const)
      : ({ kind: "scored", grade, confidenceLevel } as const);
  return routeWallet(DEFAULT_ROUTING, { wallet, sanctioned, score }).action;
}

function renderNone(view: LeaderboardView): Fragment {
  if (view.kind === "search" && view.page > 1) return html`<p class="quiet">Nothing stands on this page.</p>`;
  if (view.kind === "search")
    return html`<p>Nothing was found.</p><p class="quiet">A search takes an address or its beginning, the number of an agent, or the beginning of an agent's name. A wallet that was never looked at is found by its whole address alone.</p>`;
  if (!view.isFirst)
    return html`<p class="quiet">Nobody stands behind this place. <a href="/leaderboard">Begin at the first page</a>.</p>`;
  if (view.grade === null)
    return html`<p class="quiet">No wallet has a score yet. The first ones come once the index holds final blocks with calls of agents.</p>`;
  const { from, to } = bandOf(view.grade);
  return html`<p class="quiet">No wallet has grade ${view.grade}, a score of ${from} to ${to}.</p>`;
}

function renderPaging({
  grade,
  isFirst,
  next,
}: Extract<LeaderboardView, { readonly kind: "ranks" }>): Fragment | string {
  const scope = grade === null ? "" : `grade=${grade}`;
  const first = scope === "" ? "/leaderboard" : `/leaderboard?${scope}`;
  if (isFirst && next === null) return "";
  return html`<nav class="actions" aria-label="Pages">${isFirst ? "" : html`<a class="button plain" href="${first}">First page</a>`}${next === null ? "" : html`<a class="button plain" rel="next" href="/leaderboard?${scope === "" ? "" : `${scope}&`}after=${next}">Next page</a>`}</nav>`;
}

function renderSearchEnd({
  query,
  page,
  hasNext,
  isCut,
}: Extract<LeaderboardView, { readonly kind: "search" }>): Fragment {
  const first = `/leaderboard?q=${encodeURIComponent(query)}`;
  const before = page === 2 ? first : `${first}&page=${page - 1}`;
  return html`${isCut ? html`<p class="quiet">There may be more; a longer query narrows them down.</p>` : ""}${
    page === 1 && !hasNext
      ? ""
      : html`<nav class="actions" aria-label="Pages">${page === 1 ? "" : html`<a class="button plain" rel="prev" href="${before}">Previous page</a>`}${hasNext ? html`<a class="button plain" rel="next" href="${first}&page=${page + 1}">Next page</a>` : ""}</nav>`
  }`;
}
