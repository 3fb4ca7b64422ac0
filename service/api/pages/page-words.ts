import { html } from "hono/html";
import type { Address } from "viem";
import type { ConfidenceLevel, Grade, RoutingAction } from "../../model/score/record.ts";
import type { RegisteredAgent } from "../../registries/documents/registered-agent.ts";
import { isLookalikeName, printableName } from "../../reports/labels/chain-labels.ts";

import { toEip55 } from "../schemas/values.ts";
import type { Fragment } from "./prose.ts";

export const GRADES = ["A", "B", "C", "D", "E", "F"] as const satisfies readonly Grade[];

/** Seconds. */
export const MINUTE = 60;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** 1234 as 1,234. */
export function countWords(count: number): string {
  return count.toLocaleString("en-GB");
}

/** A count with its noun: "1 wallet", "2 wallets". */
export function countOf(count: number, noun: string): string {
  return `${countWords(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A share of 0 to 1 in whole percent; a share that rounds to zero is "under 1%". */
export function percentWords(share: number): string {
  if (share > 0 && share < 0.005) return "under\u00a01%";
  return `${Math.round(share * 100)}%`;
}

/** An age in its largest unit; "now" below a second and for times in the future. */
export function ageWords(from: Date, now: Date): string {
  const seconds = Math.floor((now.getTime() - from.getTime()) / 1000);
  return seconds < 1 ? "now" : `${spanWords(seconds)} ago`;
}

/** Whole seconds in their largest unit. */
export function spanWords(seconds: number): string {
  if (seconds < 2 * MINUTE) return `${seconds} s`;
  if (seconds < 2 * HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)} h`;
  return `${Math.floor(seconds / DAY)} days`;
}

/** A moment in UTC to the minute, with the exact one for programs; times.js shows it in the reader's time zone. */
export function timeTag(date: Date): Fragment {
  const iso = date.toISOString();
  return html`<time datetime="${iso}" data-local>${dayWords(iso.slice(0, 10))}, ${iso.slice(11, 16)} UTC</time>`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;

/** 2026-11-20 as 20 Nov 2026. */
export function dayWords(day: string): string {
  const [year, month, date] = day.split("-");
  return `${Number(date)} ${MONTHS[Number(month) - 1] ?? month} ${year}`;
}

/** A chain by the name of its deployment; the local devnet has no proper name. */
export function chainWords(name: string): string {
  return name === "local" ? "the local chain" : name;
}

export function shortHex(hex: string): string {
  return `${hex.slice(0, 8)}…${hex.slice(-6)}`;
}

/** A link to a wallet's page by its short address; the whole one is its title. */
export function walletLink(wallet: Address): Fragment {
  const address = toEip55(wallet);
  return html`<a class="mono" href="/wallet/${address}" title="${address}">${shortHex(address)}</a>`;
}

/** A grade in its colour; a dash without enough history. Screen readers get a text. */
export function gradeMark(grade: Grade | null): Fragment {
  if (grade === null)
    return html`<span class="grade grade-none"><span aria-hidden="true">–</span><span class="hidden">no grade: not enough history</span></span>`;
  return html`<span class="grade grade-${grade}"><span class="hidden">Grade </span>${grade}</span>`;
}

export function routeWords(action: RoutingAction): string {
  return { instant_settle: "Settle at once", escrow: "Escrow", reject: "Reject" }[action];
}

export function levelWords(level: ConfidenceLevel): string {
  return { HIGH: "High", MEDIUM: "Medium", LOW: "Low", INSUFFICIENT: "Not enough history" }[level];
}

/** An agent by name and registry number, with its registry unless the index follows that; names that resemble others are left out. */
function agentName({ agentId, name, registry }: RegisteredAgent): Fragment {
  const shown = name === null || isLookalikeName(name) ? "" : printableName(name);
  const named = shown === "" ? html`<span class="quiet">unnamed agent</span>` : html`<bdi>${shown}</bdi>`;
  return html`${named} <span class="quiet">#${numberWords(agentId)}${registry === null ? "" : ` in ${registry.name}`}</span>`;
}

/** The wallet by the names of its agents, with its address below; by its address alone without one. */
export function renderWho(wallet: Address | null, agents: readonly RegisteredAgent[]): Fragment {
  const link = wallet === null ? html`<span class="quiet">no wallet</span>` : walletLink(wallet);
  if (agents.length === 0) return link;
  const names = agents.map((agent) =>
    wallet === null
      ? html`<span class="agent">${agentName(agent)}</span>`
      : html`<a class="agent" href="/wallet/${toEip55(wallet)}">${agentName(agent)}</a>`,
  );
  return html`${names}<span class="quiet small">${link}</span>`;
}

/** Registries number agents up to 2^256. */
function numberWords(agentId: bigint): string {
  const digits = agentId.toString();
  return digits.length > 12 ? `${digits.slice(0, 6)}…${digits.slice(-4)}` : digits;
}

/** Invisible or reordering characters: controls except line feeds, direction marks, joiners, tags. */
const UNSEEN = /[^\P{C}\n]/gu;
/** Combining marks on one letter: two are normal, a pile of them covers other lines. */
const PILED_MARKS = /(\p{M}{3})\p{M}+/gu;

/**
 * Text of a third party or a model for display: without invisible characters, and cut after `most` characters with an ellipsis.
 * It is not escaped; the page's template does that.
 */
export function strangeText(text: string, most: number): string {
  const plain = text.replaceAll(UNSEEN, " ").replaceAll(PILED_MARKS, "$1").trim();
  // Twice as many code units always contain at least one more character if there is one.
  const characters = [...plain.slice(0, 2 * most + 2)];
  return characters.length <= most ? plain : `${characters.slice(0, most).join("").trimEnd()}…`;
}

/** The first `most` of a list, and how many it has beyond them. */
export function firstOf<Item>(
  items: readonly Item[],
  most: number,
): { shown: readonly Item[]; left: number } {
  return { shown: items.slice(0, most), left: Math.max(0, items.length - most) };
}

const USD = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 2, maximumFractionDigits: 3 });

/** US dollars with two decimals, or three if needed. */
export function dollars(usd: number): string {
  return `${USD.format(usd)} USD`;
}

/** US dollars of millionths, rounded down to cents: no page shows more than there is. */
export function usdAmount(microUsd: bigint): string {
  const cents = (microUsd / 10_000n) % 100n;
  return `${(microUsd / 1_000_000n).toLocaleString("en-GB")}.${String(cents).padStart(2, "0")}`;
}

/** US dollars of an endpoint's price, which is in thousandths of one; free without a price. */
export function priceUsd({ price }: { readonly price: number | null }): number {
  return (price ?? 0) / 1_000;
}

/** A text with a button that copies it. Screen readers announce the button with `name`. */
export function copyable(text: string, name: string): Fragment {
  return html`<span class="copyable-text"><span class="mono" data-copy="${name}">${text}</span></span>`;
}

/** A link to the chain's block explorer; empty where the chain has none. */
export function explorerLink(
  { explorer }: { readonly explorer: string | null },
  kind: "address" | "tx" | "block",
  id: string,
): Fragment | string {
  if (explorer === null) return "";
  const { host } = new URL(explorer);
  return html` <a class="small whole" href="${explorer}/${kind}/${id}" rel="noopener">View on ${host}</a>`;
}

/** The form that searches wallets and agents. */
export function renderSearch(query: string): Fragment {
  return html`<form class="form-row" action="/leaderboard" method="get" role="search">
<div class="field"><label for="q">Find a wallet or an agent</label><input id="q" name="q" value="${query}" maxlength="128" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="Address, agent number or name"></div>
<button class="button">Search</button>
</form>`;
}
