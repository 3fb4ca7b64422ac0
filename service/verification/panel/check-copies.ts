import { quoteOf } from "./quotes.ts";
import type { OutputCheck } from "./types.ts";

/** Longer than phrases, keys and lines of code that recur in honest work. */
const PADDED_WINDOW = 64;
/** Of the whole, in one piece: a text written twice repeats half of itself, but for the windows over its seam. */
const REPEATED_IN_ONE = 0.45;
/** Of the whole, in pieces: names and numbers set apart even tests, tables and letters of one pattern. */
const REPEATED_IN_ALL = 0.95;
/** Less than this repeats itself in honest short texts: refrains, tables, boilerplate. */
const MIN_REPEATED = 400;
/** Rules and frames of tables are shorter. */
const LONGEST_RUN = 400;
/** Empty pages; indentation and tables have text in between. */
const LONGEST_BLANK = 1_000;
/** Of a repetition in words are letters. In grids and dumps there are fewer. */
const WORDY_SHARE = 0.5;
/** Cells of a grid have fewer kinds of letters, and dumps fewer that are no digits. */
const MIN_LETTERS = 4;

/** Enough to tell by, and little to read. */
const SAMPLE = 4_000;

/** Digits of hexadecimal and of base64, whose zeros come in rows, and what rules, bars, dots and frames are drawn with. */
const DRAWN = /[\w+/=*~#.:·•^"'<>|\\\-\u2010-\u2015\u2022-\u2027\u203e\u2190-\u25ff\u3000\uff0d\uff1d]/;
/** Values of cells. */
const VALUES = /\b(?:true|false|null|none|nan|nil|undefined|empty)\b/g;

/** An output that is filled up: by repeating itself, by a run of one character, or by blanks; null where it may be meant as it is. */
export function checkPadded(outputText: string): OutputCheck | null {
  const finding = findRun(outputText) ?? findBlank(outputText) ?? findRepetition(outputText);
  return finding === null ? null : { name: "padded", finding, criterion: null };
}

function findRun(text: string): string | null {
  let start = 0;
  for (let index = 1; index <= text.length; index += 1) {
    if (index < text.length && text.charCodeAt(index) === text.charCodeAt(start)) continue;
    if (index - start >= LONGEST_RUN && !isBlank(text.charCodeAt(start)) && !DRAWN.test(text.charAt(start))) {
      return `The output holds one character ${index - start} times in a row: “${quoteOf(text.slice(start, index), 20)}”.`;
    }
    start = index;
  }
  return null;
}

function findBlank(text: string): string | null {
  let start = 0;
  for (let index = 0; index <= text.length; index += 1) {
    if (index < text.length && isBlank(text.charCodeAt(index))) continue;
    if (index - start >= LONGEST_BLANK) {
      const before = quoteOf(text.slice(Math.max(0, start - PADDED_WINDOW), start));
      return `The output holds ${index - start} blanks in a row, after “${before}”.`;
    }
    start = index + 1;
  }
  return null;
}

/** Windows in a row that all stood there before. */
type Stretch = { readonly start: number; readonly length: number };

/** The share of windows that stood there before: what a compressor would save, without one. */
function findRepetition(text: string): string | null {
  const plain = text.replace(/\s+/g, " ").toLowerCase();
  const hashes = hashWindows(plain, PADDED_WINDOW);
  const stretches = repeatedStretches(hashes).filter((stretch) => isWordy(plain, stretch));
  const longest = stretches.reduce<Stretch>(
    (most, stretch) => (stretch.length > most.length ? stretch : most),
    {
      start: 0,
      length: 0,
    },
  );
  const repeated = stretches.reduce((sum, { length }) => sum + length, 0);
  const isPadded =
    (longest.length >= MIN_REPEATED && longest.length >= REPEATED_IN_ONE * hashes.length) ||
    (repeated >= MIN_REPEATED && repeated >= REPEATED_IN_ALL * hashes.length);
  if (!isPadded) return null;
  const percent = Math.floor((repeated / hashes.length) * 100);
  const { start } = longest;
  return `Of the output ${percent} % repeats what it said before, such as “${quoteOf(plain.slice(start, start + 3 * PADDED_WINDOW))}”.`;
}

/** Those of more windows than errors of the filter make. */
function repeatedStretches(hashes: Uint32Array): readonly Stretch[] {
  const stretches: Stretch[] = [];
  const seen = createSeenWindows(hashes.length);
  let length = 0;
  for (let index = 0; index <= hashes.length; index += 1) {
    const hash = hashes[index];
    if (hash !== undefined && seen.has(hash)) {
      length += 1;
      continue;
    }
    if (length >= PADDED_WINDOW) stretches.push({ start: index - length, length });
    length = 0;
    if (hash !== undefined) seen.add(hash);
  }
  return stretches;
}

/** Whether a repetition is made of words: letters make up most of it, runs of one character counted once. */
function isWordy(text: string, { start, length }: Stretch): boolean {
  const repeated = text
    .slice(start, start + Math.min(length, SAMPLE) + PADDED_WINDOW - 1)
    .replace(VALUES, " ");
  let letters = 0;
  let others = 0;
  let before = "";
  const kinds = new Set<string>();
  for (const [token] of repeated.matchAll(/[\p{L}\p{M}]|[^\p{L}\p{M}]+/gu)) {
    if (token === before) continue;
    before = token;
    if (!/^[\p{L}\p{M}]/u.test(token)) others += 1;
    else {
      letters += 1;
      if (!/[a-f]/.test(token)) kinds.add(token);
    }
  }
  return kinds.size >= MIN_LETTERS && letters >= WORDY_SHARE * (letters + others);
}

function isBlank(unit: number): boolean {
  return unit <= 0x20 || unit === 0xa0 || (unit >= 0x2000 && unit <= 0x200b) || unit === 0x3000;
}

/** Seven words or so: shared by texts on one subject now and then, not all the time. */
const COPIED_WINDOW = 40;
/** More than half: what quotes its task and answers it stays below. */
const COPIED_SHARE = 0.6;
/** A sentence or two may be all that was asked for. */
const MIN_COPIED = 160;
/** An order of less than a window is looked for as it is; below this it is no more than a word or two. */
const MIN_ORDER = 12;
/** The first line tells what is wanted; more than its beginning may be data. */
const OPENING = 120;

type Windows = { readonly has: (hash: number) => boolean };

/**
 * An output most of which stands word for word in what the client wrote, with the order itself in it; null where it does not, is
 * short, or where the order is to work on a text that the client gave: the order is what nobody wants to have back.
 */
export function checkCopied(outputText: string, given: readonly string[]): OutputCheck | null {
  const output = wordsOf(outputText);
  const hashes = hashWindows(output, COPIED_WINDOW);
  const copied = countCovered(hashes, windowsOf(given.map(wordsOf)));
  const share = copied.characters / output.length;
  if (copied.characters < MIN_COPIED || share < COPIED_SHARE) return null;
  const orders = given.map(orderingPart);
  if (orders.some(ordersWorkOnText)) return null;
  const handedBack = windowsOf([output]);
  if (!orders.some((order) => isHandedBack(order, output, handedBack))) return null;
  const quote = quoteOf(output.slice(copied.start, copied.start + 160));
  return {
    name: "copied_from_spec",
    finding: `Of the output ${Math.floor(share * 100)} % stands word for word in the specification, such as “${quote}”.`,
    criterion: null,
  };
}

/** Whether most of an order stands in the output, and of one of several lines most of its first as well: below it may stand data. */
function isHandedBack(order: string, output: string, handedBack: Windows): boolean {
  const [opening = "", ...more] = order.split("\n").map(wordsOf);
  const parts = more.length === 0 ? [opening] : [opening.slice(0, OPENING), wordsOf(order)];
  return parts.every((part) => {
    if (part.length < COPIED_WINDOW) return part.length >= MIN_ORDER && output.includes(part);
    return (
      countCovered(hashWindows(part, COPIED_WINDOW), handedBack).characters >= COPIED_SHARE * part.length
    );
  });
}

function windowsOf(texts: readonly string[]): Windows {
  const windows = texts.map((text) => hashWindows(text, COPIED_WINDOW));
  const known = createSeenWindows(windows.reduce((sum, { length }) => sum + length, 0));
  for (const hashes of windows) {
    for (let index = 0; index < hashes.length; index += 1) known.add(hashes[index] ?? 0);
  }
  return known;
}

/** Characters that a known window covers, and where the longest stretch of them starts. */
function countCovered(hashes: Uint32Array, known: Windows) {
  let characters = 0;
  let coveredTo = 0;
  let run = { start: 0, length: 0 };
  let longest = run;
  for (let index = 0; index < hashes.length; index += 1) {
    if (!known.has(hashes[index] ?? 0)) continue;
    characters += index + COPIED_WINDOW - Math.max(index, coveredTo);
    run =
      index <= coveredTo && run.length > 0
        ? { start: run.start, length: run.length + 1 }
        : { start: index, length: 1 };
    if (run.length > longest.length) longest = run;
    coveredTo = index + COPIED_WINDOW;
  }
  return { characters, start: longest.start };
}

/** Letters and digits with one blank between words: neither layout nor punctuation makes a copy another text. */
function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim();
}

/** Work on a text that was given, whose right result is mostly that text; in any place and form of the word. */
const WORK_ON_TEXT =
  /\b(?:proofread|proof-read|copy-?edit|spell-?check|verbatim|extract|transcrib|reformat|refactor|re-?order|rearrang|alphabetis|alphabetiz|de-?duplicat|dedup|lint|uncomment|docstring|annotat|typo|template|anonymi|redact|rephras|paraphras|rewrit|rewrot|translat|prettif|minif|boilerplate|word for word|as[ -]is\b|unchanged|exactly (?:this|these|as|the|what))/i;
/** The same where the word is said of an order: elsewhere it names a thing, as in “the correct order” or “a format”. */
const ORDERED_WORK =
  /(?:^|[.!?:;,\n(>]|[-*•]|\d[.)]|\b(?:and|then|to|please|must|should|shall|can|is|are|be|been|all|you))\s*(?:correct|edit|fix|format|sort|order|fill|comment|complete|copy|quote|cite|repeat|clean|filter|merge|reproduce|restore|shorten|trim|polish|improve|indent|rename|renumber|convert|group|rank|split|update|modify|patch|debug)(?:s|es|ed|ing|ted|ting|ied|d)?\s+(?:in\b|out\b|up\b|all\b|any\b|every|each|the\b|this\b|these\b|those\b|that\b|it\b|its\b|them\b|my\b|our\b|by\b|from\b|alphabetically|comments?\b)/i;
const SORTED_STATE =
  /\b(?:sorted|alphabetical|filled|corrected|formatted|fixed|commented|edited|quoted|cited)\b/i;
const COMMENTS = /\b(?:add|adds|added|adding|insert|with|has|have)\s+(?:\w+\s+){0,2}comments?\b/i;

/** Titles whose list is a part of the order. */
const ORDERS_TITLE =
  /^\W*(?:\w+ ){0,2}(?:criteria|requirements?|tasks?|goals?|scope|deliverables?|rules|conditions)\W*$/i;
const FENCE = /^\s*(?:```|~~~)/;
const LEAD = /[:：]\W{0,3}$/u;
/** Said of what stands further down. */
const POINTS_DOWN = /\b(?:below|following|as follows)\b[^.!?\n]{0,40}[.!?]?\s*$/i;
const ITEM = /^\s*(?:[-*+•]|\(?\d{1,3}[.)])\s/;
/** A passage, rather than a name. */
const LONG_QUOTE = /“[^“”]{80,}”|"[^"]{80,}"|«[^«»]{80,}»|„[^„“”]{80,}[“”]/gu;

/** Whether the order is to work on a text that is given, or to hand one on as it is: a right result then resembles what was given. */
function ordersWorkOnText(order: string): boolean {
  return [WORK_ON_TEXT, ORDERED_WORK, SORTED_STATE, COMMENTS].some((pattern) => pattern.test(order));
}

/**
 * What a client's text orders, without what it hands over: long quotations, blocks of code, and all below a line that leads to
 * something with a colon or a word, but for lists below a title such as “Requirements:” and for the items that follow one that leads.
 */
function orderingPart(text: string): string {
  const kept: string[] = [];
  let isFenced = false;
  let leadIndent: number | null = null;
  for (const line of text.replace(LONG_QUOTE, " ").split("\n")) {
    if (FENCE.test(line)) {
      isFenced = !isFenced;
      continue;
    }
    if (isFenced || line.trim() === "") continue;
    const isItem = ITEM.test(line);
    const indent = line.length - line.trimStart().length;
    if (leadIndent !== null && !(isItem && indent <= leadIndent)) continue;
    leadIndent = null;
    kept.push(line);
    const leads = LEAD.test(line) ? !ORDERS_TITLE.test(line) : POINTS_DOWN.test(line);
    // Only an item's own lead ends where the next item begins.
    if (leads) leadIndent = isItem ? indent : -1;
  }
  return kept.join("\n");
}

/** Three marks in a field of so many bits for each window: one in two hundred is taken for another by error, which decides nothing. */
const BITS_PER_WINDOW = 16;
const SMALLEST_FIELD_BITS = 1 << 12;
/** Odd, and so far apart that the places that they lead to are independent. */
const [SECOND_PLACE, THIRD_PLACE] = [0x9e3779b1, 0x85ebca77];
const FACTOR = 0x01000193;

/** A text's windows by their hashes: what was seen is known by marks in a bit field, so that no text makes it slow. */
type SeenWindows = { readonly has: (hash: number) => boolean; readonly add: (hash: number) => void };

/** An empty set of windows, for about as many as given; it never denies one that was added. */
function createSeenWindows(windows: number): SeenWindows {
  const digits = Math.ceil(Math.log2(Math.max(SMALLEST_FIELD_BITS, windows * BITS_PER_WINDOW)));
  // Small, since memory that was never used costs more time than all the rest.
  const field = new Uint8Array(2 ** (digits - 3));
  const shift = 32 - digits;
  const isMarked = (place: number) => ((field[place >>> 3] ?? 0) & (1 << (place & 7))) !== 0;
  const mark = (place: number) => {
    field[place >>> 3] = (field[place >>> 3] ?? 0) | (1 << (place & 7));
  };
  return {
    has: (hash) =>
      isMarked(hash >>> shift) &&
      isMarked(Math.imul(hash, SECOND_PLACE) >>> shift) &&
      isMarked(Math.imul(hash, THIRD_PLACE) >>> shift),
    add: (hash) => {
      mark(hash >>> shift);
      mark(Math.imul(hash, SECOND_PLACE) >>> shift);
      mark(Math.imul(hash, THIRD_PLACE) >>> shift);
    },
  };
}

/** The hash of every window of so many UTF-16 units, in order; none where the text is shorter. One pass. */
function hashWindows(text: string, width: number): Uint32Array {
  const count = Math.max(0, text.length - width + 1);
  const hashes = new Uint32Array(count);
  if (count === 0) return hashes;
  let leaving = 1;
  for (let index = 1; index < width; index += 1) leaving = Math.imul(leaving, FACTOR);
  let rolling = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (index >= width) rolling = (rolling - Math.imul(text.charCodeAt(index - width) + 1, leaving)) | 0;
    rolling = (Math.imul(rolling, FACTOR) + text.charCodeAt(index) + 1) | 0;
    if (index >= width - 1) hashes[index - width + 1] = scatter(rolling);
  }
  return hashes;
}

/** Spreads neighbouring values over all bits. */
function scatter(value: number): number {
  const once = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return (twice ^ (twice >>> 16)) >>> 0;
}
