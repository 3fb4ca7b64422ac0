import { quoteOf } from "./quotes.ts";
import type { OutputCheck } from "./types.ts";

/** Longer than phrases, keys and code lines that recur in honest work. */
const PADDED_WINDOW = 64;
/** Share of the whole in one piece. A text written twice repeats half, except the windows over its seam. */
const REPEATED_IN_ONE = 0.45;
/** Share of the whole in pieces. Names and numbers keep honest tests, tables and letters below it. */
const REPEATED_IN_ALL = 0.95;
/** Honest short texts repeat less: refrains, tables, boilerplate. */
const MIN_REPEATED = 400;
/** Longest run of one character in rules and table frames. */
const LONGEST_RUN = 400;
/** Longest run of blanks in honest texts. */
const LONGEST_BLANK = 1_000;
/** Share of letters in a repetition of words. Grids and dumps have fewer. */
const WORDY_SHARE = 0.5;
/** Distinct letters in a repetition of words. Grids have fewer, and dumps have few beside digits. */
const MIN_LETTERS = 4;

/** Characters that are enough for the decision. */
const SAMPLE = 4_000;

/** Characters of hexadecimal and base64 data, and of drawn rules, bars and frames. */
const DRAWN = /[\w+/=*~#.:·•^"'<>|\\\-\u2010-\u2015\u2022-\u2027\u203e\u2190-\u25ff\u3000\uff0d\uff1d]/;
const VALUES = /\b(?:true|false|null|none|nan|nil|undefined|empty)\b/g;

/** Finds an output padded by repetition, by a run of one character, or by blanks; null otherwise. */
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

/** Adjacent windows that all occurred before. */
type Stretch = { start: number; length: number };

/** Measures the share of windows that occurred before, as a compressor would. */
function findRepetition(text: string): string | null {
  const plain = text.replace(/\s+/g, " ").toLowerCase();
  const hashes = hashWindows(plain, PADDED_WINDOW);
  const stretches = repeatedStretches(hashes).filter((stretch) => isWordy(plain, stretch));
  const none = { start: 0, length: 0 };
  const longest = stretches.reduce((most, stretch) => (stretch.length > most.length ? stretch : most), none);
  const repeated = stretches.reduce((sum, { length }) => sum + length, 0);
  const isPadded =
    (longest.length >= MIN_REPEATED && longest.length >= REPEATED_IN_ONE * hashes.length) ||
    (repeated >= MIN_REPEATED && repeated >= REPEATED_IN_ALL * hashes.length);
  if (!isPadded) return null;
  const percent = Math.floor((repeated / hashes.length) * 100);
  const { start } = longest;
  return `Of the output ${percent}% repeats what it said before, such as “${quoteOf(plain.slice(start, start + 3 * PADDED_WINDOW))}”.`;
}

/** Stretches long enough to rule out errors of the filter. */
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

/** True if a repetition is made of words: mostly letters, with runs counted once. */
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

/** About seven words. Texts on one subject share such windows only now and then. */
const COPIED_WINDOW = 40;
/** An honest output that quotes its task stays below this share. */
const COPIED_SHARE = 0.6;
/** Shorter copies are ignored: one or two sentences may be the whole task. */
const MIN_COPIED = 160;
/** An order shorter than a window is searched literally. Below this length it is only a word or two. */
const MIN_ORDER = 12;
/** Characters of the first line that name the task. The rest may be data. */
const OPENING = 120;

/**
 * Finds an output that mostly repeats the client's text, including the order itself. Null for other outputs, for short ones, and if the
 * order is to work on a given text.
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
    finding: `Of the output ${Math.floor(share * 100)}% is copied word for word from the specification, such as “${quote}”.`,
    criterion: null,
  };
}

/** True if the output contains most of an order. For an order of several lines also most of its first line, since data may follow it. */
function isHandedBack(order: string, output: string, handedBack: SeenWindows): boolean {
  const [opening = "", ...more] = order.split("\n").map(wordsOf);
  const parts = more.length === 0 ? [opening] : [opening.slice(0, OPENING), wordsOf(order)];
  return parts.every((part) => {
    if (part.length < COPIED_WINDOW) return part.length >= MIN_ORDER && output.includes(part);
    const { characters } = countCovered(hashWindows(part, COPIED_WINDOW), handedBack);
    return characters >= COPIED_SHARE * part.length;
  });
}

function windowsOf(texts: readonly string[]): SeenWindows {
  const windows = texts.map((text) => hashWindows(text, COPIED_WINDOW));
  const known = createSeenWindows(windows.reduce((sum, { length }) => sum + length, 0));
  for (const hashes of windows) {
    for (let index = 0; index < hashes.length; index += 1) known.add(hashes[index] ?? 0);
  }
  return known;
}

/** Counts characters covered by known windows, and finds the start of the longest run. */
function countCovered(hashes: Uint32Array, known: SeenWindows) {
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

/** Letters and digits with single spaces, so that layout and punctuation do not hide a copy. */
function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim();
}

/** Words for work on a given text, whose correct result is mostly that text. */
const WORK_ON_TEXT =
  /\b(?:proofread|proof-read|copy-?edit|spell-?check|verbatim|extract|transcrib|reformat|refactor|re-?order|rearrang|alphabetis|alphabetiz|de-?duplicat|dedup|lint|uncomment|docstring|annotat|typo|template|anonymi|redact|rephras|paraphras|rewrit|rewrot|translat|prettif|minif|boilerplate|word for word|as[ -]is\b|unchanged|exactly (?:this|these|as|the|what))/i;
/** The same words in the form of an order. Elsewhere they name a thing, as in “the correct order” or “a format”. */
const ORDERED_WORK =
  /(?:^|[.!?:;,\n(>]|[-*•]|\d[.)]|\b(?:and|then|to|please|must|should|shall|can|is|are|be|been|all|you))\s*(?:correct|edit|fix|format|sort|order|fill|comment|complete|copy|quote|cite|repeat|clean|filter|merge|reproduce|restore|shorten|trim|polish|improve|indent|rename|renumber|convert|group|rank|split|update|modify|patch|debug)(?:s|es|ed|ing|ted|ting|ied|d)?\s+(?:in\b|out\b|up\b|all\b|any\b|every|each|the\b|this\b|these\b|those\b|that\b|it\b|its\b|them\b|my\b|our\b|by\b|from\b|alphabetically|comments?\b)/i;
const SORTED_STATE =
  /\b(?:sorted|alphabetical|filled|corrected|formatted|fixed|commented|edited|quoted|cited)\b/i;
const COMMENTS = /\b(?:add|adds|added|adding|insert|with|has|have)\s+(?:\w+\s+){0,2}comments?\b/i;

const ORDERS_TITLE =
  /^\W*(?:\w+ ){0,2}(?:criteria|requirements?|tasks?|goals?|scope|deliverables?|rules|conditions)\W*$/i;
const FENCE = /^\s*(?:```|~~~)/;
const LEAD = /[:：]\W{0,3}$/u;
const POINTS_DOWN = /\b(?:below|following|as follows)\b[^.!?\n]{0,40}[.!?]?\s*$/i;
const ITEM = /^\s*(?:[-*+•]|\(?\d{1,3}[.)])\s/;
/** A quoted passage, not a name. */
const LONG_QUOTE = /“[^“”]{80,}”|"[^"]{80,}"|«[^«»]{80,}»|„[^„“”]{80,}[“”]/gu;

/** True if the order is to work on a given text or to pass it on: a correct result then resembles it. */
function ordersWorkOnText(order: string): boolean {
  return [WORK_ON_TEXT, ORDERED_WORK, SORTED_STATE, COMMENTS].some((pattern) => pattern.test(order));
}

/**
 * Returns the order in a client's text without the given data: long quotations, code blocks, and everything below a line that introduces
 * data. Lists below a title such as “Requirements:” stay, and so do items after an item that introduces data.
 */
function orderingPart(text: string): string {
  const rest: string[] = [];
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
    rest.push(line);
    const leads = LEAD.test(line) ? !ORDERS_TITLE.test(line) : POINTS_DOWN.test(line);
    // Only the introduction of an item ends at the next item.
    if (leads) leadIndent = isItem ? indent : -1;
  }
  return rest.join("\n");
}

/** Bits per window in the Bloom filter, with three marks each. One window in two hundred is a false match, which changes no result. */
const BITS_PER_WINDOW = 16;
const SMALLEST_FIELD_BITS = 1 << 12;
/** Odd multipliers that give independent positions. */
const [SECOND_PLACE, THIRD_PLACE] = [0x9e3779b1, 0x85ebca77];
const FACTOR = 0x01000193;

type SeenWindows = ReturnType<typeof createSeenWindows>;

/** Creates an empty Bloom filter for hashes of about this many windows, so that no text makes it slow. It has no false negatives. */
function createSeenWindows(windows: number) {
  const digits = Math.ceil(Math.log2(Math.max(SMALLEST_FIELD_BITS, windows * BITS_PER_WINDOW)));
  // Kept small: touching fresh memory costs more than the rest.
  const field = new Uint8Array(2 ** (digits - 3));
  const shift = 32 - digits;
  const isMarked = (place: number) => ((field[place >>> 3] ?? 0) & (1 << (place & 7))) !== 0;
  const mark = (place: number) => {
    field[place >>> 3] = (field[place >>> 3] ?? 0) | (1 << (place & 7));
  };
  return {
    has: (hash: number): boolean =>
      isMarked(hash >>> shift) &&
      isMarked(Math.imul(hash, SECOND_PLACE) >>> shift) &&
      isMarked(Math.imul(hash, THIRD_PLACE) >>> shift),
    add: (hash: number): void => {
      mark(hash >>> shift);
      mark(Math.imul(hash, SECOND_PLACE) >>> shift);
      mark(Math.imul(hash, THIRD_PLACE) >>> shift);
    },
  };
}

/** Hashes every window of `width` UTF-16 units in one pass; empty if the text is shorter. */
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
