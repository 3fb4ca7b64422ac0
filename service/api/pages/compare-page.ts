import { html } from "hono/html";
import type { Address } from "viem";
import type { RoutingDecision } from "../../model/score/route.ts";
import { type ComparedWallet, type Difference, MOST_COMPARED } from "../../reports/comparison.ts";
import { NOTABLE_POINTS } from "../../reports/explain-score.ts";
import { shownScore } from "../../scores/stored-score.ts";
import { MOST_CALLS } from "../../scores/wallet-activity.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { trendOf } from "../schemas/ahs-record.ts";
import { addressSchema, toEip55 } from "../schemas/values.ts";
import type { PageContent } from "./frame.ts";
import { answerPrivatePage, answerPublicPage, type Page, type PageHandler, redirectTo } from "./page.ts";
import {
  ageWords,
  countWords,
  gradeMark,
  levelWords,
  percentWords,
  renderWho,
  routeWords,
  shortHex,
  usdAmount,
} from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { shownQuery } from "./search.ts";

/** GET /compare: wallets side by side, for browsers. Programs get the endpoint of the same path. */
export const comparePage: Page = { path: "/compare", needs: "/compare", get: show };

/** The path of a comparison. */
export function comparePath(wallets: readonly Address[]): string {
  return wallets.length === 0 ? "/compare" : `/compare?addresses=${wallets.map(toEip55).join(",")}`;
}

async function show(...[context, { ports, clock }]: Parameters<PageHandler>): Promise<Response> {
  const { wallets, fault, isCanonical } = choiceIn(context);
  if (fault !== null) return answerPrivatePage(context, renderChoice(wallets, fault), { status: 422 });
  if (!isCanonical) return redirectTo(context, comparePath(wallets), { status: 303 });
  if (wallets.length < 2) return answerPublicPage(context, renderChoice(wallets, null));
  const comparison = await ports.compare(wallets);
  const columns = comparison.wallets.map((wallet) => columnOf(wallet, clock.now()));
  return answerPublicPage(context, {
    title: "Compare wallets",
    path: "/compare",
    body: html`<h1>Compare wallets</h1>
${renderForm(wallets)}
<div class="panel scroll" tabindex="0" role="region" aria-label="Comparison">${renderTable(columns, comparison.differences)}</div>
<p class="quiet small">“Best” marks the best value of a row that can be ranked. All values are stored ones: this page scores nothing. Names are given by the agents and are not verified. The score predicts failures; it is not a fraud score.</p>`,
  });
}

/** The wallets that a URL names, each once, and the first fault of it; canonical URLs name them in one form. */
function choiceIn(context: ApiContext): {
  readonly wallets: readonly Address[];
  readonly fault: string | null;
  readonly isCanonical: boolean;
} {
  const given = context.req.queries("addresses") ?? [];
  const texts = given.flatMap((text) => text.split(/[\s,]+/)).filter((text) => text !== "");
  const parsed = texts.map((text) => ({ text, address: addressSchema.safeParse(text) }));
  const wallets = [...new Set(parsed.flatMap(({ address }) => (address.success ? [address.data] : [])))];
  const faulty = parsed.find(({ address }) => !address.success);
  const canonical = wallets.map(toEip55).join(",");
  return {
    wallets: wallets.slice(0, MOST_COMPARED),
    fault: faulty === undefined ? tooManyWords(wallets) : faultWords(faulty.text),
    isCanonical: given.length === 0 || (given.length === 1 && given[0] === canonical && canonical !== ""),
  };
}

function faultWords(text: string): string {
  return `Expected the address of a wallet, 0x and 40 hexadecimal digits with the right letter case, got ${shownQuery(text)}.`;
}

function tooManyWords({ length }: readonly Address[]): string | null {
  return length <= MOST_COMPARED
    ? null
    : `Expected at most ${MOST_COMPARED} wallets, got ${length}. The first ${MOST_COMPARED} are below.`;
}

const DESCRIPTION = `Compare up to ${MOST_COMPARED} wallets of autonomous agents by score, routing, safe amount and what sets them apart.`;

/** The page without a comparison: for fewer than two wallets, or a URL with a fault. */
function renderChoice(wallets: readonly Address[], fault: string | null): PageContent {
  const isEmpty = wallets.length === 0 && fault === null;
  return {
    title: "Compare wallets",
    path: "/compare",
    ...(isEmpty ? { description: DESCRIPTION } : {}),
    body: html`<h1>Compare wallets</h1>
<p class="lead">Two to ${MOST_COMPARED} wallets side by side: score, routing, safe amount, activity, and the features in which they differ most.</p>
${fault === null ? "" : html`<div class="notice warn" role="alert"><p>${fault}</p></div>`}
${renderForm(wallets)}
${wallets.length === 0 ? "" : html`<section class="panel" aria-labelledby="chosen"><h2 id="chosen">Chosen</h2><ul class="plain">${wallets.map((wallet) => html`<li>${renderWho(wallet, [])} ${renderRemoval(wallet, wallets)}</li>`)}</ul></section>`}
<p>You can also tick wallets on the <a href="/leaderboard">leaderboard</a>.</p>`,
  };
}

/** A form that adds wallets to those of the page. */
function renderForm(wallets: readonly Address[]): Fragment {
  if (wallets.length >= MOST_COMPARED)
    return html`<p class="quiet">A comparison has at most ${MOST_COMPARED} wallets: remove one to add another.</p>`;
  const isFirst = wallets.length === 0;
  return html`<form class="form-row" action="/compare" method="get">
${isFirst ? "" : html`<input type="hidden" name="addresses" value="${wallets.map(toEip55).join(",")}">`}
<div class="field"><label for="addresses">${isFirst ? "Addresses of wallets" : "Add a wallet"}</label><input id="addresses" name="addresses" required maxlength="440" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="${isFirst ? "0x…, 0x…" : "0x…"}"></div>
<button class="button">${isFirst ? "Compare" : "Add"}</button>
</form>`;
}

function renderRemoval(wallet: Address, wallets: readonly Address[]): Fragment {
  const rest = wallets.filter((one) => one !== wallet);
  return html`<a class="small" href="${comparePath(rest)}">Remove<span class="hidden"> ${shortHex(toEip55(wallet))}</span></a>`;
}

/** The content of a column in one row. A cell with a greater rank is better; null has no rank. */
type Cell = { readonly shown: Fragment | string; readonly rank: number | bigint | null };

type Column = { readonly wallet: ComparedWallet; readonly cells: Readonly<Record<RowName, Cell>> };

const ROWS = {
  score: "Score",
  why: "Why",
  payments: "Payments by default",
  confidence: "Confidence",
  d1: "Wallet hygiene (D1)",
  d2: "Behavioural patterns (D2)",
  trend: "Trend over 30 days",
  safe: "Safe amount",
  available: "Available now",
  calls: "Transactions",
  active: "Last active",
  asOf: "Scored",
} as const;

type RowName = keyof typeof ROWS;

const ROW_NAMES = Object.keys(ROWS) as readonly RowName[];

function columnOf(wallet: ComparedWallet, now: Date): Column {
  const { snapshot, score: made, trend, decision, backing, calls, lastCallAt, reason } = wallet;
  const { score } = snapshot;
  const { ahsScore, grade, confidence, confidenceLevel } = shownScore(score, snapshot.sanctions.length > 0);
  const direction = trendOf(trend);
  return {
    wallet,
    cells: {
      score: {
        shown: ahsScore === null ? gradeMark(null) : html`${gradeMark(grade)} <b>${ahsScore}</b>`,
        rank: ahsScore,
      },
      why: unranked(reason),
      payments: {
        shown: html`<b>${routeWords(decision.action)}</b> <span class="quiet small">${reasonWords(decision)}</span>`,
        rank: ["reject", "escrow", "instant_settle"].indexOf(decision.action),
      },
      confidence:
        ahsScore === null
          ? NONE
          : { shown: `${levelWords(confidenceLevel)} (${percentWords(confidence)})`, rank: confidence },
      d1: numbered(made?.d1Score ?? null),
      d2: numbered(made?.d2Score ?? null),
      trend:
        direction === null
          ? NONE
          : { shown: TRENDS[direction], rank: ["declining", "stable", "improving"].indexOf(direction) },
      safe: amount(backing?.safeMicroUsd ?? null),
      available: amount(backing?.availableMicroUsd ?? null),
      calls:
        calls === null
          ? NONE
          : {
              shown: calls < MOST_CALLS ? countWords(calls) : `${countWords(MOST_CALLS)} or more`,
              rank: calls,
            },
      active: lastCallAt === null ? NONE : { shown: aged(lastCallAt, now), rank: lastCallAt.getTime() },
      asOf: score === null ? NONE : unranked(aged(score.asOfTime, now)),
    },
  };
}

/** A cell of a column. No value of a sanctioned wallet is ranked: payments to it are rejected. */
function cellIn({ wallet, cells }: Column, name: RowName): Cell {
  return wallet.snapshot.sanctions.length === 0 ? cells[name] : unranked(cells[name].shown);
}

const NONE: Cell = { shown: html`<span class="quiet">–</span>`, rank: null };

const TRENDS = { improving: "Improving", stable: "Stable", declining: "Declining" } as const;

function unranked(shown: Fragment | string): Cell {
  return { shown, rank: null };
}

function numbered(score: number | null): Cell {
  return score === null ? NONE : { shown: String(score), rank: score };
}

/** An amount that is not known is no amount of zero. */
function amount(microUsd: bigint | null): Cell {
  if (microUsd === null) return unranked(html`<span class="quiet">Not known</span>`);
  return { shown: `${usdAmount(microUsd)} USD`, rank: microUsd };
}

function aged(date: Date, now: Date): Fragment {
  return html`<span title="${date.toISOString()}">${ageWords(date, now)}</span>`;
}

function reasonWords({ reason }: RoutingDecision): string {
  switch (reason) {
    case "sanctioned":
      return "on a sanctions list";
    case "not_scored":
      return "never scored";
    case "insufficient_history":
      return "not enough history";
    default:
      return "by its grade";
  }
}

function renderTable(columns: readonly Column[], differences: readonly Difference[]): Fragment {
  const wallets = columns.map(({ wallet }) => wallet.address);
  return html`<table class="compare">
<thead><tr><th scope="col">Wallet</th>${columns.map(({ wallet }) => renderHead(wallet, wallets))}</tr></thead>
<tbody>${ROW_NAMES.map((name) =>
    renderRow(
      ROWS[name],
      columns.map((column) => cellIn(column, name)),
    ),
  )}</tbody>
<tbody><tr><th scope="rowgroup" colspan="${columns.length + 1}">Largest differences</th></tr>
${differences.length === 0 ? html`<tr><td colspan="${columns.length + 1}"><span class="in-view">No feature sets the scores apart by ${NOTABLE_POINTS} points or more.</span></td></tr>` : differences.map(renderDifference)}</tbody>
</table>`;
}

function renderHead({ address, agents, snapshot }: ComparedWallet, wallets: readonly Address[]): Fragment {
  return html`<th scope="col">${renderWho(address, agents)}${snapshot.sanctions.length === 0 ? "" : html` <span class="chip alarm">Sanctioned</span>`}${snapshot.threats.length === 0 ? "" : html` <span class="chip warn">On a list of threats</span>`} ${renderRemoval(address, wallets)}</th>`;
}

/** The best cells are marked in words, unless all that can be ranked are equal. */
function renderRow(name: string, cells: readonly Cell[]): Fragment {
  const ranks = cells.flatMap(({ rank }) => (rank === null ? [] : [rank]));
  const isBest = (rank: Cell["rank"]) => rank !== null && ranks.every((other) => other <= rank);
  const differs = !ranks.every(isBest);
  return html`<tr><th scope="row">${name}</th>${cells.map(
    ({ shown, rank }) => html`<td>${shown}${differs && isBest(rank) ? BEST : ""}</td>`,
  )}</tr>`;
}

const BEST = html` <span class="chip best">Best</span>`;

function renderDifference({ title, points, wallets }: Difference): Fragment {
  const cells = wallets.map(({ lost, says }): Cell => {
    if (says === null) return NONE;
    const cost =
      lost === null
        ? ""
        : html` <span class="quiet whole">${lost === 0 ? "no points lost" : `−${lost} points`}</span>`;
    return { shown: html`${says}${cost}`, rank: lost === null ? null : -lost };
  });
  return renderRow(`${title}: up to ${points} points`, cells);
}
