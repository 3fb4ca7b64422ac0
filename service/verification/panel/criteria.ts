import { MAX_CRITERIA } from "./policy.ts";
import type { Criterion } from "./types.ts";

/**
 * Splits acceptance criteria into numbered items in their order: elements of a JSON array, list items, lines, scenarios, or the whole text.
 * A code fence around all of it is removed. Each item is one line, so that it cannot imitate another one. Items after the thirtieth are
 * joined to it. Empty for null and for a text without a visible word.
 */
export function splitCriteria(acceptanceCriteria: string | null): readonly Criterion[] {
  if (acceptanceCriteria === null) return [];
  const given = unfenced(acceptanceCriteria);
  const texts = (splitJsonArray(given) ?? splitLines(given)).map(toOneLine).filter((text) => text !== "");
  return joinBeyond(texts, MAX_CRITERIA).map((text, index) => ({ id: `c${index + 1}`, text }));
}

function unfenced(text: string): string {
  const plain = text.trim();
  const end = plain.indexOf("\n");
  if (end < 0 || !plain.startsWith("```") || plain.indexOf("```", 3) !== plain.length - 3) return text;
  return plain.slice(end + 1, -3);
}

function joinBeyond(texts: readonly string[], limit: number): readonly string[] {
  if (texts.length <= limit) return texts;
  return [...texts.slice(0, limit - 1), texts.slice(limit - 1).join("; ")];
}

function toOneLine(text: string): string {
  return text.replace(/[\n\v\f\r\u0085\u2028\u2029]+/g, " ").trim();
}

/** A trimmed line or a code block; `apart` if a blank line precedes it, a head if it is one of a table. */
type Line = {
  indent: number;
  text: string;
  marker: Marker | null;
  apart: boolean;
  isBlock: boolean;
  isHead: boolean;
};

type Item = { opening: Line; more: string[] };

/** Items of one level may differ by one space, because numbers have one or two digits. */
const NESTED_FROM = 2;
const FENCE = /^(?:```|~~~)[^`]*$/;

/**
 * Splits a text into its list items, into its lines if it has no list, or returns the whole if its lines form one sentence. Markers of
 * items are removed; numbers and letters only if they count on. An indented line, a continued sentence, a code block and a scenario step
 * belong to their item. A line that introduces others (colon, heading, table head) belongs to the next item. Rules are removed. No other
 * character is lost.
 */
function splitLines(text: string): readonly string[] {
  const lines = readLines(text);
  const items = lines.some(({ marker }) => marker !== null) ? listItems(lines) : plainItems(lines);
  const counts = marksThatCount(items.map(({ opening }) => opening.marker));
  return attachLeads(
    items.map(({ opening, more }, index) => {
      const first = counts[index] === true && opening.marker !== null ? opening.marker.rest : opening.text;
      return { text: [first, ...more].join(" "), isHead: opening.isHead && more.length === 0 };
    }),
  );
}

function readLines(text: string): readonly Line[] {
  const raws = text.split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/);
  const isDashed = isDashedList(raws);
  const lastFence = raws.findLastIndex((raw) => FENCE.test(raw.trim()));
  const lines: Line[] = [];
  let apart = false;
  for (let index = 0; index < raws.length; index += 1) {
    const raw = raws[index] ?? "";
    const trimmed = raw.trim();
    if (trimmed === "" || isRule(trimmed)) {
      const head = lines.at(-1);
      if (trimmed.includes("|") && head !== undefined && !apart)
        lines.splice(-1, 1, { ...head, isHead: true });
      else apart = true;
      continue;
    }
    const isBlock = FENCE.test(trimmed) && index < lastFence;
    const end = isBlock ? closingOf(raws, index) : index;
    const block = raws.slice(index, end + 1).join(" ");
    const dashed = { kind: "bullet" as const, rest: trimmed.slice(1) };
    const marker = isDashed ? dashed : isBlock ? null : markerOf(trimmed);
    lines.push({ indent: indentOf(raw), text: block.trim(), marker, apart, isBlock, isHead: false });
    apart = false;
    index = end;
  }
  return lines;
}

/** Index of the closing fence; the start index without one. */
function closingOf(raws: readonly string[], start: number): number {
  for (let index = start + 1; index < raws.length; index += 1) {
    if (FENCE.test((raws[index] ?? "").trim())) return index;
  }
  return start;
}

/** True if every line is an item with a dash and no space after it. */
function isDashedList(raws: readonly string[]): boolean {
  const lines = raws.filter((raw) => raw.trim() !== "");
  return lines.length > 1 && lines.every((line) => /^-\p{L}{3}/u.test(line));
}

function isRule(trimmed: string): boolean {
  return /^[|:=_\s-]+$/.test(trimmed) && /--|==|__|\|/.test(trimmed);
}

function indentOf(raw: string): number {
  let columns = 0;
  for (const character of raw) {
    if (character === "\t") columns += 4;
    else if (/\s/.test(character)) columns += 1;
    else break;
  }
  return columns;
}

function listItems(lines: readonly Line[]): readonly Item[] {
  const items: Item[] = [];
  let base: number | null = null;
  let previous: Line | null = null;
  for (const line of lines) {
    const item = items.at(-1);
    const opens = line.marker !== null && (base === null || line.indent < base + NESTED_FROM);
    if (opens) base = base === null ? line.indent : Math.min(base, line.indent);
    const isPart = !opens && (line.marker !== null || belongs(line, base) || runsOn(line, previous, item));
    if (isPart && item !== undefined) item.more.push(line.text);
    else items.push({ opening: line, more: [] });
    previous = line;
  }
  return items;
}

/** True for a line of the item above: indented, or the next line of its paragraph that is not a heading. */
function belongs(line: Line, base: number | null): boolean {
  if (base === null) return false;
  return line.indent >= base + NESTED_FROM || !(line.apart || line.isHead || leadsIn(line.text));
}

/** Each unmarked line is an item, unless it is indented or continues a sentence. */
function plainItems(lines: readonly Line[]): readonly Item[] {
  const items: Item[] = [];
  const first = lines[0];
  let previous: Line | null = null;
  for (const line of lines) {
    const item = items.at(-1);
    const isIndented = first !== undefined && !line.apart && line.indent >= first.indent + NESTED_FROM;
    if (item !== undefined && (isIndented || runsOn(line, previous, item))) item.more.push(line.text);
    else items.push({ opening: line, more: [] });
    previous = line;
  }
  return items;
}

/** True if a line is code of an item, a step of its scenario, or continues its sentence. */
function runsOn(line: Line, previous: Line | null, item: Item | undefined): boolean {
  if (item === undefined || previous === null) return false;
  return line.isBlock || continuesScenario(line, item) || wraps(line, previous, item.opening);
}

/** True after a comma, or if it starts in lower case and its item does not. */
function wraps(line: Line, previous: Line, opening: Line): boolean {
  if (line.apart) return false;
  return previous.text.endsWith(",") || (/^\p{Ll}/u.test(line.text) && !/^\p{Ll}/u.test(opening.text));
}

/** An introduction without a following item belongs to the item before it. */
function attachLeads(items: readonly { text: string; isHead: boolean }[]): readonly string[] {
  const attached: string[] = [];
  let lead = "";
  for (const [index, item] of items.entries()) {
    const text = lead === "" ? item.text : `${lead} ${item.text}`;
    const leads = item.isHead || leadsIn(item.text) || isFeatureOf(item.text, items[index + 1]?.text ?? "");
    lead = leads ? text : "";
    if (!leads) attached.push(text);
  }
  if (lead === "") return attached;
  return [...attached.slice(0, -1), [...attached.slice(-1), lead].join(" ")];
}

function leadsIn(text: string): boolean {
  return /[:：]$/.test(text) || /^#{1,6}\s/.test(text);
}

const SCENARIO = /^(?:Scenario|Scenario Outline|Scenario Template|Example|Background)\s*:/;
const STEP = /^(?:Given|When|Then|And|But)\s/;
const OPENING_STEP = /^(?:Given|When)\s/;
/** Examples of an outline and table rows. */
const SCENARIO_ROWS = /^(?:Examples\s*:|Scenarios\s*:|\|)/;

/** True if a line belongs to the item's Gherkin scenario or, without a title, to its steps up to the outcome. */
function continuesScenario(line: Pick<Line, "text" | "apart">, { opening, more }: Item): boolean {
  if (SCENARIO.test(opening.text)) return STEP.test(line.text) || SCENARIO_ROWS.test(line.text);
  if (line.apart || !OPENING_STEP.test(opening.text) || !STEP.test(line.text)) return false;
  if (/^(?:Then|And|But)\s/.test(line.text)) return true;
  // A condition after an outcome starts another scenario.
  const last = more.findLast((text) => /^(?:Given|When|Then)\s/.test(text)) ?? opening.text;
  return line.text.startsWith("When") && last.startsWith("Given");
}

/** True for the title of the feature of the next scenario. */
function isFeatureOf(text: string, next: string): boolean {
  return /^Feature\s*:/.test(text) && SCENARIO.test(next);
}

/** Marker of a list item; `rest` is the line without it. A letter has a position in the alphabet, as a Roman numeral, or in both. */
type Marker =
  | { kind: "bullet"; rest: string }
  | { kind: "number"; value: number; rest: string }
  | { kind: "letter"; letter: number | null; roman: number | null; rest: string };

const BULLET = /^(?:[-*+•‣◦▪●–—·]\s|[・✓✔✅☐☑☒➤►▶]\ufe0f?)/u;
const BOX = /^\[[ xX]?\]\s/;
const NUMBER = /^\(?(\d{1,3})(?:[.):]\s|[、．）])/;
const CIRCLED = /^([①-⑳])/;
const LETTER = /^\(?([a-zA-Z]|[ivx]{2,5}|[IVX]{2,5})[.)]\s/;
const ONES = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"];
const ROMANS = ["", "x", "xx"].flatMap((tens) => ONES.map((one) => tens + one));

/** Returns the marker of a trimmed line; null without one. */
function markerOf(text: string): Marker | null {
  const bullet = BULLET.exec(text)?.[0] ?? (BOX.test(text) ? "" : null);
  if (bullet !== null) return { kind: "bullet", rest: withoutBox(text.slice(bullet.length).trim()) };
  const [number, digits] = NUMBER.exec(text) ?? [];
  if (number !== undefined) {
    return { kind: "number", value: Number(digits), rest: text.slice(number.length).trim() };
  }
  const [circled] = CIRCLED.exec(text) ?? [];
  if (circled !== undefined) {
    return { kind: "number", value: circled.charCodeAt(0) - 0x245f, rest: text.slice(1).trim() };
  }
  const [mark, sign = ""] = LETTER.exec(text) ?? [];
  if (mark === undefined) return null;
  const small = sign.toLowerCase();
  return {
    kind: "letter",
    letter: small.length === 1 ? small.charCodeAt(0) - 0x60 : null,
    roman: ROMANS.indexOf(small) + 1 || null,
    rest: text.slice(mark.length).trim(),
  };
}

/**
 * Whether each marker, in order, is one and not text: bullets always; numbers from one or counting on; letters and Roman numerals
 * that count from the first to a second.
 */
function marksThatCount(markers: readonly (Marker | null)[]): readonly boolean[] {
  let number: number | null = null;
  const expected: { letter: number | null; roman: number | null } = { letter: null, roman: null };
  return markers.map((marker, index) => {
    if (marker === null) return false;
    if (marker.kind === "bullet") return true;
    if (marker.kind === "number") {
      const counts = marker.value === 1 || marker.value === number;
      number = marker.value + 1;
      return counts;
    }
    const next = markers[index + 1];
    const kinds = (["letter", "roman"] as const).filter((kind) => {
      const opens = marker[kind] === 1 && next?.kind === "letter" && next[kind] === 2;
      return opens || (marker[kind] !== null && marker[kind] === expected[kind]);
    });
    for (const kind of ["letter", "roman"] as const) {
      expected[kind] = kinds.includes(kind) ? (marker[kind] ?? 0) + 1 : null;
    }
    return kinds.length > 0;
  });
}

/** Removes a check box, which may follow a bullet or not. */
function withoutBox(text: string): string {
  const [box = ""] = BOX.exec(text) ?? [];
  return text.slice(box.length).trim();
}

/**
 * Splits a JSON array: strings are decoded, other elements stay as written. Any other JSON object is one element. Null if the text is
 * neither.
 */
function splitJsonArray(text: string): readonly string[] | null {
  const json = text.trim();
  if (!(json.startsWith("[") || json.startsWith("{")) || !isJson(json)) return null;
  return json.startsWith("[") ? elementsOf(json).map(readElement) : [json];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    // A RangeError means nesting too deep for a list of criteria.
    if (error instanceof SyntaxError || error instanceof RangeError) return false;
    throw error;
  }
}

/** Texts between the commas of the outermost array of valid JSON. */
function elementsOf(json: string): readonly string[] {
  const elements: string[] = [];
  let depth = 0;
  let quoted = false;
  let start = 1;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (quoted) {
      if (character === "\\") index += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
    if (depth === 0 || (depth === 1 && character === "," && !quoted)) {
      elements.push(json.slice(start, index).trim());
      start = index + 1;
    }
  }
  return elements;
}

function readElement(element: string): string {
  if (!element.startsWith('"')) return element;
  const value: unknown = JSON.parse(element);
  return typeof value === "string" ? value : element;
}
