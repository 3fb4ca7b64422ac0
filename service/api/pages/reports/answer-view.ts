import { html } from "hono/html";
import { formatUnits, isAddress } from "viem";
import { usdText } from "../../../reports/phrases.ts";
import { renderSparkline } from "../charts.ts";
import { countOf, firstOf, percentWords, shortHex, strangeText, timeTag, walletLink } from "../page-words.ts";
import type { Fragment } from "../prose.ts";

/** How a report's answer is laid out. Members that it does not name follow in their own order. */
export type AnswerLayout = {
  /** Members that come first, by their names. */
  readonly first: readonly string[];
  /** Headings of members, where their names do not suffice. */
  readonly titles?: Readonly<Record<string, string>>;
  /** Columns of tables, by the member's name; by default the first ones with a short value. */
  readonly columns?: Readonly<Record<string, readonly string[]>>;
  /** Members that the page shows in another way, or not at all. */
  readonly omit?: readonly string[];
};

type Answer = Readonly<Record<string, unknown>>;

/** Members that say how an answer came about: they come last, folded. */
const BASIS = new Set([
  ...["window", "window_days", "as_of_block", "as_of_time", "as_of", "timestamp", "coverage", "sources"],
  ...[
    "chain_id",
    "prices",
    "method",
    "basis",
    "block",
    "simulated_at",
    "model_version",
    "complete",
    "charged",
  ],
]);
/** Members that hold a whole sentence; the first one that an entry has is its headline. */
const SENTENCES = ["title", "action", "description", "text", "sentence", "message", "says", "finding"];
const MAX_ROWS = 20;
const MAX_COLUMNS = 6;
const MAX_TEXT = 600;
const MAX_DEPTH = 3;

/** The answer of a report as panels: facts, lists and tables. Texts are shown as text, whatever they contain. */
export function renderAnswer(answer: Answer, layout: AnswerLayout): Fragment {
  const hidden = new Set(["address", ...(layout.omit ?? [])]);
  const named = Object.entries(answer).filter(([name]) => !hidden.has(name));
  const basis = named.filter(([name]) => BASIS.has(name));
  const shown = named
    .filter(([name]) => !BASIS.has(name))
    .toSorted(([a], [b]) => placeOf(a, layout) - placeOf(b, layout));
  const facts = shown.filter(([name, value]) => !isPart(value) && !isSilent(name, value));
  const parts = shown.filter(([, value]) => isPart(value));
  return html`${facts.length === 0 ? "" : html`<section class="panel" aria-label="Summary">${renderFacts(facts)}</section>`}
<div class="answer">${parts.map(
    ([name, value]) =>
      html`<section class="panel${isSmall(value) ? "" : " whole-row"}" aria-labelledby="part-${name}"><h2 id="part-${name}">${layout.titles?.[name] ?? labelOf(name)}</h2>${renderPart(value, { columns: layout.columns?.[name], depth: 0 })}</section>`,
  )}</div>
${basis.length === 0 ? "" : html`<details class="panel"><summary>Basis of this report</summary>${renderFacts(basis)}</details>`}`;
}

/** Whether a fact says nothing: a reason or a note that does not apply. */
function isSilent(name: string, value: unknown): boolean {
  return value === null && /(^|_)(reason|note|words)$/.test(name);
}

/** Whether a section is narrow enough to have another one beside it. */
function isSmall(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const members = Object.values(value);
  return members.length <= 7 && members.every((member) => !isPart(member) && String(member).length < 50);
}

function placeOf(name: string, { first }: AnswerLayout): number {
  const place = first.indexOf(name);
  return place === -1 ? first.length : place;
}

type Inner = { readonly columns?: readonly string[] | undefined; readonly depth: number };

function renderPart(value: unknown, inner: Inner): Fragment | string {
  if (Array.isArray(value)) return renderList(value, inner);
  if (!isRecord(value)) return renderValue("", value);
  return renderFacts(Object.entries(value), inner.depth + 1);
}

function renderFacts(entries: readonly (readonly [string, unknown])[], depth = 0): Fragment {
  const shown = depth === 0 ? entries : entries.filter(([name]) => !BASIS.has(name));
  const flat = shown.filter(([name, value]) => !isPart(value) && !isSilent(name, value));
  const parts = depth >= MAX_DEPTH ? [] : shown.filter(([, value]) => isPart(value));
  const decimals = decimalsOf(Object.fromEntries(entries));
  return html`${flat.length === 0 ? "" : html`<dl class="facts${flat.length > 7 ? " facts-wide" : ""}">${flat.map(([name, value]) => html`<dt>${labelOf(name)}</dt><dd>${renderValue(name, value, decimals)}</dd>`)}</dl>`}${parts.map(
    ([name, value]) => html`<h3>${labelOf(name)}</h3>${renderPart(value, { depth: depth + 1 })}`,
  )}`;
}

function renderList(list: readonly unknown[], inner: Inner): Fragment {
  const { shown, left } = firstOf(list, MAX_ROWS);
  const records = shown.filter(isRecord);
  const more =
    left === 0
      ? ""
      : html`<p class="quiet small">${countOf(left, "more entry").replace("entrys", "entries")} in the JSON answer.</p>`;
  if (records.length < shown.length)
    return html`<ul>${shown.map((value) => html`<li>${renderValue("", value)}</li>`)}</ul>${more}`;
  if (records.every((record) => typeof record.week === "string" && typeof record.calls === "number"))
    return renderWeeks(list.filter(isRecord), inner.columns);
  const headline = SENTENCES.find((name) => records.every((record) => isSentence(record[name])));
  if (headline !== undefined && inner.columns === undefined)
    return html`<ol class="findings">${records.map((record) => renderFinding(record, headline, inner.depth))}</ol>${more}`;
  return html`${renderTable(records, inner.columns)}${more}`;
}

/** Activity by week as bars, with the table behind them. */
function renderWeeks(weeks: readonly Answer[], columns: readonly string[] | undefined): Fragment {
  const calls = weeks.map((week) => Number(week.calls));
  return html`${renderSparkline(calls, `Calls by week: ${calls.join(", ")}`)}
<details><summary>The same in a table</summary>${renderTable(weeks, columns)}</details>`;
}

function isSentence(value: unknown): boolean {
  return typeof value === "string" && value.includes(" ");
}

/** An entry with a sentence: the sentence, what qualifies it, and its other members folded. */
function renderFinding(record: Answer, headline: string, depth: number): Fragment {
  const rest = Object.entries(record).filter(([name, value]) => name !== headline && value !== null);
  const [chips, others] = partition(rest, ([name]) => name === "severity" || name === "risk");
  const [texts, details] = partition(
    others,
    ([name, value]) =>
      typeof value === "string" && /^(reason|warning|why|effect|not_ready_reason|evidence)$/.test(name),
  );
  const [money, folded] = partition(
    details,
    ([name, value]) => name.includes("usd") && typeof value === "number",
  );
  return html`<li><p class="finding">${chips.map(([, value]) => severityChip(String(value)))}<b>${textOf(String(record[headline]))}</b></p>
${texts.map(([name, value]) => html`<p>${name === "reason" || name === "why" ? "" : html`<span class="quiet">${labelOf(name)}:</span> `}${textOf(String(value))}</p>`)}
${money.length === 0 ? "" : html`<p class="quiet small">${money.map(([name, value]) => html`<span class="whole">${labelOf(name)}: ${renderValue(name, value)}</span> `)}</p>`}
${folded.length === 0 || depth > 1 ? "" : html`<details><summary>Details</summary>${renderFacts(folded, depth + 1)}</details>`}</li>`;
}

function renderTable(records: readonly Answer[], wanted: readonly string[] | undefined): Fragment {
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const isShort = (name: string) => records.some((record) => !isPart(record[name]) && record[name] !== null);
  const columns = (wanted ?? names.filter((name) => isShort(name) && name !== "decimals"))
    .filter((name) => names.includes(name))
    .slice(0, MAX_COLUMNS);
  const isNumber = (name: string) =>
    records.every((record) => typeof record[name] === "number" || record[name] == null);
  return html`<table class="stack"><thead><tr>${columns.map((name) => html`<th scope="col"${isNumber(name) ? html` class="number"` : ""}>${labelOf(name)}</th>`)}</tr></thead>
<tbody>${records.map(
    (record) =>
      html`<tr>${columns.map((name) => html`<td data-name="${labelOf(name)}"${isNumber(name) ? html` class="number"` : ""}>${isPart(record[name]) ? summaryOf(record[name]) : renderValue(name, record[name], decimalsOf(record))}</td>`)}</tr>`,
  )}</tbody></table>`;
}

/** One line for a nested value in a table: its label, name or hash, else its size. */
function summaryOf(value: unknown): Fragment | string {
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.length.toLocaleString("en-GB");
  if (!isRecord(value)) return "–";
  const name = value.label ?? value.name ?? value.title;
  if (typeof name === "string") return textOf(name, 60);
  return typeof value.hash === "string" ? renderValue("hash", value.hash) : "–";
}

const HASH = /^0x[0-9a-fA-F]{64}$/;
const ISO = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const WHOLE = /^-?\d{1,78}$/;
const NAME = /^[a-z0-9]+(?:_[a-z0-9]+)*$/;

/** Decimals of the token that a record is about; null if it names none. */
function decimalsOf({ decimals }: Answer): number | null {
  return typeof decimals === "number" && Number.isInteger(decimals) && decimals >= 0 && decimals <= 255
    ? decimals
    : null;
}

function renderValue(name: string, value: unknown, decimals: number | null = null): Fragment | string {
  if (value === null || value === undefined) return html`<span class="quiet">–</span>`;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return numberOf(name, value);
  if (isMoney(value)) return moneyOf(value);
  if (Array.isArray(value) && value.length === 0) return "none";
  if (typeof value !== "string") return textOf(JSON.stringify(value));
  if (isAddress(value, { strict: false })) return walletLink(value);
  if (HASH.test(value)) return html`<code title="${value}">${shortHex(value)}</code>`;
  if (/^0x[0-9a-f]*$/i.test(value)) return html`<code>${value.length > 42 ? shortHex(value) : value}</code>`;
  if (ISO.test(value)) return timeTag(new Date(value));
  if (WHOLE.test(value) && /wei$/.test(name)) return `${coins(BigInt(value))} ETH`;
  if (WHOLE.test(value) && decimals !== null) return coins(BigInt(value), decimals);
  if (NAME.test(value) && value.includes("_")) return value.replaceAll("_", " ");
  return textOf(value);
}

function numberOf(name: string, value: number): string {
  if (/usd/.test(name)) return usdText(value * 1e6);
  if (/(share|rate|confidence)$/.test(name) && value >= 0 && value <= 1) return percentWords(value);
  return value.toLocaleString("en-GB", { maximumFractionDigits: 2 });
}

type Money = { readonly wei: string; readonly worth?: number | null };

/** An amount of native coin, with its worth under any name. */
function isMoney(value: unknown): value is Answer {
  return isRecord(value) && typeof value.wei === "string" && WHOLE.test(value.wei);
}

function moneyOf(value: Answer): string {
  const { wei } = value as Money;
  const usd = Object.entries(value).find(([name]) => name.includes("usd"))?.[1];
  const worth = typeof usd === "number" ? ` (${numberOf("usd", usd)})` : "";
  return `${coins(BigInt(wei))} ETH${worth}`;
}

/** Base units as coins with six significant digits. */
function coins(units: bigint, decimals = 18): string {
  const coin = Number(formatUnits(units, decimals));
  return coin === 0
    ? "0"
    : coin.toLocaleString("en-GB", { maximumSignificantDigits: 6, maximumFractionDigits: 18 });
}

function textOf(text: string, most = MAX_TEXT): Fragment {
  return html`<bdi>${strangeText(text, most)}</bdi>`;
}

function severityChip(severity: string): Fragment {
  const kind = /high|critical/i.test(severity) ? "alarm" : /medium|warning/i.test(severity) ? "warn" : "";
  return html`<span class="chip ${kind}">${severity}</span> `;
}

/** A member's name as a label: "saves_usd_per_month" is "Saves per month". */
function labelOf(name: string): string {
  const words = name
    .replaceAll(/(^|_)(usd|wei)(?=_|$)/g, "")
    .replaceAll("_", " ")
    .trim();
  return words === ""
    ? "Value"
    : `${words.charAt(0).toUpperCase()}${words.slice(1)}`.replace(/\b(?:ahs|hhi)\b/gi, (short) =>
        short.toUpperCase(),
      );
}

/** Whether a value takes a section of its own; an empty list is a fact. */
function isPart(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === "object" && value !== null && !isMoney(value);
}

function isRecord(value: unknown): value is Answer {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function partition<Item>(items: readonly Item[], test: (item: Item) => boolean): readonly [Item[], Item[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
