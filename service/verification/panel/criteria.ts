import { MAX_CRITERIA } from "./policy.ts";
import type { Criterion } from "./types.ts";

/**
 * Acceptance criteria as numbered items, in their order: the elements of a JSON array, the items of a list, lines, scenarios, or the
 * whole text as one item; the fence of a block of code around all of it is no part of it. Each is one line, so that nothing within one
 * can pass for another. Items beyond the thirtieth are joined to it, so nothing is dropped; none for null or a text without a visible
 * word.
 */
export function splitCriteria(acceptanceCriteria: string | null): readonly Criterion[] {
  if (acceptanceCriteria === null) return [];
  const given = unfenced(acceptanceCriteria);
  const texts = (splitJsonArray(given) ?? splitLines(given)).map(toOneLine).filter((text) => text !== "");
  return joinBeyond(texts, MAX_CRITERIA).map((text, index) => ({ id: `c${index + 1}`, text }));
}

/** The text without the fence of a block of code that it is as a whole. */
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

const SCENARIO = /^(?:Scenario|Scenario Outline|Scenario Template|Example|Background)\s*:/;
const STEP = /^(?:Given|When|Then|And|But)\s/;
const OPENING_STEP = /^(?:Given|When)\s/;
/** Examples of an outline, and rows of a table. */
const SCENARIO_ROWS = /^(?:Examples\s*:|Scenarios\s*:|\|)/;

/** Whether a line is a part of the Gherkin scenario that an item opens or, without a title, of the steps that lead to its outcome. */
function continuesScenario(
  line: { readonly text: string; readonly apart: boolean },
  { opening, more }: { readonly opening: { readonly text: string }; readonly more: readonly string[] },
): boolean {
  if (SCENARIO.test(opening.text)) return STEP.test(line.text) || SCENARIO_ROWS.test(line.text);
  if (line.apart || !OPENING_STEP.test(opening.text) || !STEP.test(line.text)) return false;
  if (/^(?:Then|And|But)\s/.test(line.text)) return true;
  // Another condition after an outcome is another scenario.
  const last = more.findLast((text) => /^(?:Given|When|Then)\s/.test(text)) ?? opening.text;
  return line.text.startsWith("When") && last.startsWith("Given");
}

/** Whether a text is the title of the feature that the scenario after it belongs to. */
function isFeatureOf(text: string, next: string): boolean {
  return /^Feature\s*:/.test(text) && SCENARIO.test(next);
}

/** What opens an item of a list; `rest` is the line without it. */
type Marker =
  | { readonly kind: "bullet"; readonly rest: string }
  | { readonly kind: "number"; readonly value: number; readonly rest: string }
  | {
      readonly kind: "letter";
      /** Its places in the alphabet and among Roman numerals; null where it has none. */
      readonly letter: number | null;
      readonly roman: number | null;
      readonly rest: string;
    };

const BULLET = /^(?:[-*+•‣◦▪●–—·]\s|[・✓✔✅☐☑☒➤►▶]\ufe0f?)/u;
const BOX = /^\[[ xX]?\]\s/;
const NUMBER = /^\(?(\d{1,3})(?:[.):]\s|[、．）])/;
const CIRCLED = /^([①-⑳])/;
const LETTER = /^\(?([a-zA-Z]|[ivx]{2,5}|[IVX]{2,5})[.)]\s/;
const ROMANS =
  "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx xxi xxii xxiii xxiv xxv xxvi xxvii xxviii xxix xxx".split(
    " ",
  );

/** The mark that a line without white space at its ends opens an item with; null for one that opens none. */
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
 * Whether each of the marks of a list's items, in order, is a mark and no part of the text: bullets always, numbers where they begin
 * with one or count on, letters and Roman numerals where they count from the first one on to a second.
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

/** A box to tick stands after a bullet or by itself. */
function withoutBox(text: string): string {
  const [box = ""] = BOX.exec(text) ?? [];
  return text.slice(box.length).trim();
}

/**
 * The elements of a text that is a JSON array: strings as they read, all else as it is written. A text that is other JSON with
 * members is one element; null for what is no such JSON.
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
    // Too deep to be parsed is no list of criteria either.
    if (error instanceof SyntaxError || error instanceof RangeError) return false;
    throw error;
  }
}

/** What stands between the commas of the outermost array of valid JSON. */
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
