type Line = {
  readonly indent: number;
  /** Without its indentation and white space at its end. */
  readonly text: string;
  readonly marker: Marker | null;
  /** Whether nothing but white space stands between it and the line before. */
  readonly apart: boolean;
};

type Marker =
  | { readonly kind: "bullet" }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "letter" };

/** A place's own indentation may vary by a blank, as numbers of two digits are set. */
const NESTED_FROM = 2;

/**
 * A text's list items, or its lines where it has no list, or the whole where its lines run on. Marks of items go, numbers only where
 * they count on from the item before; what stands indented below an item, or runs on from it, belongs to it, and a line that leads
 * in with a colon or as a heading to what follows it. No other character is lost.
 */
export function splitLines(text: string): readonly string[] {
  const lines = readLines(text);
  const first = lines[0];
  if (first === undefined) return [];
  const items = lines.some((line) => line.marker !== null) ? listItems(lines) : plainItems(lines, first);
  return attachLeads(items);
}

function readLines(text: string): readonly Line[] {
  const lines: Line[] = [];
  let apart = false;
  for (const raw of text.split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/)) {
    const trimmed = raw.trim();
    if (trimmed === "") {
      apart = true;
      continue;
    }
    lines.push({ indent: indentOf(raw), text: trimmed, marker: markerOf(trimmed), apart });
    apart = false;
  }
  return lines;
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

function markerOf(text: string): Marker | null {
  if (/^[-*+•‣◦▪●–—·]\s/u.test(text)) return { kind: "bullet" };
  const number = /^\(?(\d{1,3})[.):]\s/.exec(text)?.[1];
  if (number !== undefined) return { kind: "number", value: Number(number) };
  return /^\(?[a-zA-Z][.)]\s/.test(text) ? { kind: "letter" } : null;
}

function listItems(lines: readonly Line[]): readonly string[] {
  const items: string[] = [];
  let base: number | null = null;
  let expected: number | null = null;
  let previous: Line | null = null;
  let opening: Line | null = null;
  for (const line of lines) {
    const { marker, text } = line;
    if (marker !== null && (base === null || line.indent < base + NESTED_FROM)) {
      const counts = marker.kind === "number" && isNext(marker.value, expected);
      items.push(counts || marker.kind === "bullet" ? withoutMarker(text) : text);
      if (marker.kind === "number") expected = marker.value + 1;
      base = base === null ? line.indent : Math.min(base, line.indent);
      opening = line;
    } else if (marker !== null || belongs(line, base) || wraps(line, previous, opening)) append(items, text);
    else {
      items.push(text);
      opening = line;
    }
    previous = line;
  }
  return items;
}

function isNext(value: number, expected: number | null): boolean {
  return value === 1 || value === expected;
}

/** Below an item: indented, or the next line of its own paragraph that is no heading. */
function belongs(line: Line, base: number | null): boolean {
  if (base === null) return false;
  return line.indent >= base + NESTED_FROM || !(line.apart || leadsIn(line.text));
}

/** Lines without marks: each an item, unless it is indented or goes on in the middle of a sentence. */
function plainItems(lines: readonly Line[], first: Line): readonly string[] {
  const items: string[] = [];
  let previous: Line | null = null;
  let opening: Line | null = null;
  for (const line of lines) {
    const isIndented = previous !== null && !line.apart && line.indent >= first.indent + NESTED_FROM;
    if (isIndented || wraps(line, previous, opening)) append(items, line.text);
    else {
      items.push(line.text);
      opening = line;
    }
    previous = line;
  }
  return items;
}

/** Whether a line goes on with the sentence before: after a comma, or in lower case where its item opened otherwise. */
function wraps(line: Line, previous: Line | null, opening: Line | null): boolean {
  if (previous === null || opening === null || line.apart) return false;
  return previous.text.endsWith(",") || (/^\p{Ll}/u.test(line.text) && !/^\p{Ll}/u.test(opening.text));
}

function attachLeads(items: readonly string[]): readonly string[] {
  const attached: string[] = [];
  let lead = "";
  for (const item of items) {
    const text = lead === "" ? item : `${lead} ${item}`;
    lead = leadsIn(item) ? text : "";
    if (lead === "") attached.push(text);
  }
  return lead === "" ? attached : [...attached, lead];
}

function leadsIn(text: string): boolean {
  return text.endsWith(":") || /^#{1,6}\s/.test(text);
}

function withoutMarker(text: string): string {
  return text.slice(text.search(/\s/)).trim();
}

function append(items: string[], text: string): void {
  const last = items.pop();
  items.push(last === undefined ? text : `${last} ${text}`);
}
