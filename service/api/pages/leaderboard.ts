import type { Address } from "viem";
import { Problem } from "../../access/problems.ts";
import type { Grade } from "../../model/score/record.ts";
import type { ScoreDistribution } from "../../scores/ecosystem.ts";
import { type FoundAgent, MOST_NAMES, type RankedWallet, type RankPlace } from "../../scores/leaderboard.ts";
import { toEip55 } from "../address-schema.ts";
import { type LeaderboardRow, renderLeaderboard } from "./leaderboard-view.ts";
import { answerPublicPage, type Page, type PageHandler, redirectTo } from "./page.ts";
import type { LeaderboardPorts } from "./page-ports.ts";
import { GRADES } from "./page-words.ts";
import { bandOf } from "./score-bands.ts";
import { searchFor, shownQuery, type WalletSearch } from "./wallet-search.ts";

const PAGE_SIZE = 50;

/** GET /leaderboard: scored wallets in their order, by grade, or those that a search finds. */
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

/** What is known of a row before its names and flags are. */
type Found = {
  readonly wallet: Address | null;
  readonly ranked: RankedWallet | null;
  readonly agent: FoundAgent | null;
};

function rankedOnly(ranked: RankedWallet): Found {
  return { wallet: ranked.wallet, ranked, agent: null };
}

/** One page of what was found. */
type FoundPage = {
  readonly found: readonly Found[];
  /** Whether a page follows. */
  readonly hasNext: boolean;
  /** Whether there may be more than all pages show. */
  readonly isCut: boolean;
};

async function find(
  search: Exclude<WalletSearch, { readonly kind: "all" | "address" }>,
  page: number,
  { leaderboard }: LeaderboardPorts,
): Promise<FoundPage> {
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
  { agentNames, sanctionedAmong, distribution }: LeaderboardPorts,
): Promise<readonly LeaderboardRow[]> {
  const wallets = found.flatMap(({ wallet }) => (wallet === null ? [] : [wallet]));
  // Nothing to look up: an index without tables is no reason to show no page.
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

/** Wallets with a better score, and one; null without a score. Equal scores share a rank. */
export function rankOf(score: number | null, distribution: ScoreDistribution): number | null {
  if (score === null) return null;
  return distribution.reduce((rank, one) => (one.score > score ? rank + one.wallets : rank), 1);
}

/** Ranks of the first page by its rows alone: the counts of all scores may be some seconds older. */
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

/** The number of a page of search results, from 1 on. */
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
  // The pattern is that of an address.
  return { ahsScore: Number(score), confidenceMicros: Number(confidence), wallet: wallet as Address };
}

function placeText(wallet: RankedWallet | undefined): string | null {
  if (wallet === undefined || wallet.ahsScore === null) return null;
  return `${wallet.ahsScore}-${wallet.confidenceMicros}-${wallet.wallet}`;
}
