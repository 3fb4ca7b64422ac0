import { html } from "hono/html";
import type { Address } from "viem";
import { Problem } from "../../access/problems.ts";
import { type FoundAgent, MOST_NAMES, type RankedWallet } from "../../scores/leaderboard.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { toEip55 } from "../schemas/values.ts";
import { answerPublicPage, type PageRuntime, redirectTo } from "./page.ts";
import type { PagePorts } from "./page-ports.ts";
import { gradeMark, levelWords, renderSearch, renderWho } from "./page-words.ts";
import type { Fragment } from "./prose.ts";

const PAGE_SIZE = 50;
const PAGES = (2 * MOST_NAMES) / PAGE_SIZE;
const MAX_CHARACTERS = 128;

/** A query for display: one line, without invisible characters. */
export function shownQuery(given: string): string {
  // Cut before removing invisible characters, because a URL cannot carry half a surrogate pair.
  return given.replace(/\s+/gu, " ").slice(0, MAX_CHARACTERS).replace(/\p{C}/gu, "").trim();
}

/** The part of a search that a query from `shownQuery` asks for; addresses are lower-case, with or without 0x in the query. */
export type Search = {
  /** A whole address; null for another query. */
  readonly address: Address | null;
  /** The beginning of an address; null for any other query. */
  readonly prefix: string | null;
  readonly agentId: bigint | null;
  readonly name: string | null;
};

/** Digits of an address from which a query without 0x is looked for as its beginning. */
const LEAST_DIGITS = 4;

export function searchFor(query: string): Search {
  const digits = /^(?:0x)?([0-9a-f]{0,40})$/i.exec(query)?.[1]?.toLowerCase() ?? null;
  const isPrefixed = /^0x/i.test(query);
  const hex = digits !== null && (isPrefixed || digits.length >= LEAST_DIGITS) ? digits : null;
  // The pattern matches addresses only.
  const address = hex?.length === 40 ? (`0x${hex}` as Address) : null;
  const number = /^#?([0-9]{1,77})$/.exec(query)?.[1];
  return {
    address,
    prefix: address === null && hex !== null ? `0x${hex}` : null,
    agentId: number === undefined ? null : BigInt(number),
    name: isPrefixed && digits !== null ? null : query,
  };
}

/** Answers a search: the page of a whole address, or what was found. */
export async function answerSearch(
  context: ApiContext,
  { ports }: Pick<PageRuntime, "ports">,
  query: string,
): Promise<Response> {
  const search = searchFor(query);
  if (search.address !== null)
    return redirectTo(context, `/wallet/${toEip55(search.address)}`, { status: 303 });
  const page = pageFrom(context.req.query("page"));
  const results = await find(search, page, ports);
  return answerPublicPage(context, {
    title: `Results for “${query}”`,
    path: "/leaderboard",
    body: html`<h1>Results for “${query}”</h1>
${renderSearch(query)}
<p><a href="/leaderboard">Back to the leaderboard</a></p>
<section class="panel" aria-label="Results">${results.rows.length === 0 ? renderNone(page) : renderResults(results.rows)}</section>
${renderEnd(query, { page, ...results })}`,
  });
}

function pageFrom(given: string | undefined): number {
  if (given === undefined) return 1;
  const page = /^[1-9][0-9]?$/.test(given) ? Number(given) : Number.NaN;
  if (page <= PAGES) return page;
  throw new Problem("request-malformed", `A search has pages from 1 to ${PAGES}.`);
}

/** A wallet with the agents that led to it; an agent without a wallet is a row of its own. */
type Result = {
  readonly wallet: Address | null;
  readonly ranked: RankedWallet | null;
  readonly agents: readonly FoundAgent[];
  readonly isSanctioned: boolean;
};

type Results = { readonly rows: readonly Result[]; readonly hasNext: boolean; readonly isCut: boolean };

async function find(
  { prefix, agentId, name }: Search,
  page: number,
  { leaderboard, sanctionedAmong }: PagePorts,
): Promise<Results> {
  const offset = (page - 1) * PAGE_SIZE;
  const [byNumber, byPrefix, named] = await Promise.all([
    agentId === null || page > 1 ? [] : leaderboard.byAgentId(agentId),
    prefix === null || page > 1 ? [] : leaderboard.byPrefix(prefix, PAGE_SIZE + 1),
    name === null ? NONE : leaderboard.byName(name, { offset, limit: PAGE_SIZE }),
  ]);
  const agents = [
    ...byNumber,
    ...named.agents.filter((one) => !byNumber.some((numbered) => placeOf(numbered) === placeOf(one))),
  ];
  const groups = Map.groupBy(agents, (agent) => agent.wallet ?? placeOf(agent));
  const found = [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ wallet: first.wallet, ranked: first.ranked, agents: group }];
  });
  const others = byPrefix
    .slice(0, PAGE_SIZE)
    .filter(({ wallet }) => !groups.has(wallet))
    .map((ranked) => ({ wallet: ranked.wallet, ranked, agents: [] }));
  const rows = [...found, ...others];
  const wallets = rows.flatMap(({ wallet }) => (wallet === null ? [] : [wallet]));
  const sanctioned = wallets.length === 0 ? new Set() : await sanctionedAmong(wallets);
  const hasNext = named.total > offset + PAGE_SIZE;
  return {
    rows: rows.map((row) => ({ ...row, isSanctioned: row.wallet !== null && sanctioned.has(row.wallet) })),
    hasNext,
    isCut: byPrefix.length > PAGE_SIZE || (named.isCut && !hasNext),
  };
}

/** One agent among those of all registries. */
function placeOf({ agentId, registry }: FoundAgent): string {
  return `${registry?.address ?? "followed"} ${agentId}`;
}

const NONE = { agents: [], total: 0, isCut: false };

function renderResults(rows: readonly Result[]): Fragment {
  return html`<table class="stack found">
<thead><tr><th scope="col">Wallet</th><th scope="col">Score</th><th scope="col">Confidence</th></tr></thead>
<tbody>${rows.map(
    ({ wallet, ranked, agents, isSanctioned }) => html`
<tr><td class="who">${renderWho(wallet, agents)}${isSanctioned ? html` <span class="chip alarm">Sanctioned</span>` : ""}</td>
<td><span class="score">${gradeMark(ranked?.grade ?? null)} <b>${ranked === null ? "never scored" : (ranked.ahsScore ?? "not enough history")}</b></span></td>
<td data-name="Confidence">${ranked === null ? "–" : levelWords(ranked.confidenceLevel)}</td></tr>`,
  )}</tbody></table>
<p class="quiet small">Names are given by the agents and are not verified.</p>`;
}

function renderNone(page: number): Fragment {
  if (page > 1) return html`<p class="quiet">This page is empty.</p>`;
  return html`<p>Nothing was found.</p><p class="quiet">Search by an address or its beginning, by the number of an agent, or by a part of an agent's name. A wallet that was never scored is found by its whole address only.</p>`;
}

function renderEnd(query: string, { page, hasNext, isCut }: { page: number } & Results): Fragment {
  const first = `/leaderboard?q=${encodeURIComponent(query)}`;
  const before = page === 2 ? first : `${first}&page=${page - 1}`;
  return html`${isCut ? html`<p class="quiet">There may be more results. A longer query narrows them down.</p>` : ""}${
    page === 1 && !hasNext
      ? ""
      : html`<nav class="actions" aria-label="Pages">${page === 1 ? "" : html`<a class="button plain" rel="prev" href="${before}">Previous page</a>`}${hasNext ? html`<a class="button plain" rel="next" href="${first}&page=${page + 1}">Next page</a>` : ""}</nav>`
  }`;
}
