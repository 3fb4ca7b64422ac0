import { type Marker, markerOf, marksThatCount } from "./criteria-markers.ts";
import { continuesScenario, isFeatureOf } from "./criteria-scenarios.ts";

type Line = {
  readonly indent: number;
  /** Without its indentation and white space at its end; a block of code is one line. */
  readonly text: string;
  readonly marker: Marker | null;
  /** Whether nothing but white space stands between it and the line before. */
  readonly apart: boolean;
  readonly isBlock: boolean;
  /** Whether it is the head of a table. */
  readonly isHead: boolean;
};

type Item = { readonly opening: Line; readonly more: string[] };

/** A place's own indentation may vary by a blank, as numbers of two digits are set. */
const NESTED_FROM = 2;
const FENCE = /^(?:```|~~~)[^`]*$/;

/**
 * A text's list items, or its lines where it has no list, or the whole where its lines run on. Marks of items go, numbers and letters
 * only where they count on from the item before; what stands indented below an item, runs on from it or is its code or its scenario's
 * step belongs to it, and a line that leads in with a colon, as a heading or as a table's head to what follows it. Rules go, and no
 * other character is lost.
 */
export function splitLines(text: string): readonly string[] {
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
    const line = isBlock
      ? raws
          .slice(index, end + 1)
          .join(" ")
          .trim()
      : trimmed;
    const marker = isDashed
      ? { kind: "bullet" as const, rest: trimmed.slice(1) }
      : isBlock
        ? null
        : markerOf(line);
    lines.push({ indent: indentOf(raw), text: line, marker, apart, isBlock, isHead: false });
    apart = false;
    index = end;
  }
  return lines;
}

/** Where a block ends that begins there; one that does not is a line. */
function closingOf(raws: readonly string[], start: number): number {
  for (let index = start + 1; index < raws.length; index += 1) {
    if (FENCE.test((raws[index] ?? "").trim())) return index;
  }
  return start;
}

/** Whether every line is an item whose dash has no blank after it. */
function isDashedList(raws: readonly string[]): boolean {
  const lines = raws.filter((raw) => raw.trim() !== "");
  return lines.length > 1 && lines.every((line) => /^-\p{L}{3}/u.test(line));
}

/** Of a table or between paragraphs. */
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

/** Below an item: indented, or the next line of its own paragraph that is no heading. */
function belongs(line: Line, base: number | null): boolean {
  if (base === null) return false;
  return line.indent >= base + NESTED_FROM || !(line.apart || line.isHead || leadsIn(line.text));
}

/** Lines without marks: each an item, unless it is indented or goes on in the middle of a sentence. */
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

/** Whether a line is code below an item, a step of its scenario, or goes on with its sentence. */
function runsOn(line: Line, previous: Line | null, item: Item | undefined): boolean {
  if (item === undefined || previous === null) return false;
  return line.isBlock || continuesScenario(line, item) || wraps(line, previous, item.opening);
}

/** After a comma, or in lower case where its item opened otherwise. */
function wraps(line: Line, previous: Line, opening: Line): boolean {
  if (line.apart) return false;
  return previous.text.endsWith(",") || (/^\p{Ll}/u.test(line.text) && !/^\p{Ll}/u.test(opening.text));
}

/** What leads in with nothing behind it belongs to what stands before. */
function attachLeads(
  items: readonly { readonly text: string; readonly isHead: boolean }[],
): readonly string[] {
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
