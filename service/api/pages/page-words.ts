import { html } from "hono/html";
import type { Address } from "viem";
import type { ConfidenceLevel, Grade, RoutingAction } from "../../model/score/record.ts";
import { toEip55 } from "../address-schema.ts";
import type { Fragment } from "./prose.ts";

export const GRADES = ["A", "B", "C", "D", "E", "F"] as const satisfies readonly Grade[];

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 1234 as 1,234. */
export function countWords(count: number): string {
  return count.toLocaleString("en-GB");
}

/** A count with its noun: "1 wallet", "2 wallets". */
export function countOf(count: number, noun: string): string {
  return `${countWords(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A share of 0 to 1 in whole percent, never broken over lines; what rounds to none, and is some, is "under 1 %". */
export function percentWords(share: number): string {
  if (share > 0 && share < 0.005) return "under 1\u00a0%";
  return `${Math.round(share * 100)}\u00a0%`;
}

/** How long ago something was, in its largest unit; "now" for less than a second, and for what a clock ahead of ours said. */
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

/** A moment in UTC to the minute, with the exact one for programs. */
export function timeTag(date: Date): Fragment {
  const iso = date.toISOString();
  return html`<time datetime="${iso}">${dayWords(iso.slice(0, 10))}, ${iso.slice(11, 16)} UTC</time>`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;

/** 2026-11-20 as 20 Nov 2026. */
export function dayWords(day: string): string {
  const [year, month, date] = day.split("-");
  return `${Number(date)} ${MONTHS[Number(month) - 1] ?? month} ${year}`;
}

/** A chain by the name of its deployment; that of the local devnet is no proper name. */
export function chainWords(name: string): string {
  return name === "local" ? "the local chain" : name;
}

/** The beginning and the end of an address or a hash. */
export function shortHex(hex: string): string {
  return `${hex.slice(0, 8)}…${hex.slice(-6)}`;
}

/** A link to a wallet's page by its short address; the whole one is its title. */
export function walletLink(wallet: Address): Fragment {
  const address = toEip55(wallet);
  return html`<a class="mono" href="/wallet/${address}" title="${address}">${shortHex(address)}</a>`;
}

/** A letter in its colour; a dash for a wallet without enough history. Screen readers are told what it is. */
export function gradeMark(grade: Grade | null): Fragment {
  if (grade === null)
    return html`<span class="grade grade-none"><span aria-hidden="true">–</span><span class="hidden">no grade: not enough history</span></span>`;
  return html`<span class="grade grade-${grade}"><span class="hidden">Grade </span>${grade}</span>`;
}

const ROUTES: Readonly<Record<RoutingAction, string>> = {
  instant_settle: "Settle at once",
  escrow: "Escrow",
  reject: "Reject",
};

/** What is done with a payment, in the words of every page. */
export function routeWords(action: RoutingAction): string {
  return ROUTES[action];
}

const LEVELS: Readonly<Record<ConfidenceLevel, string>> = {
  HIGH: "High",
  MEDIUM: "Medium",
  LOW: "Low",
  INSUFFICIENT: "Not enough history",
};

/** A level of confidence in words. */
export function levelWords(level: ConfidenceLevel): string {
  return LEVELS[level];
}
