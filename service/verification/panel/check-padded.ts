import { quoteOf } from "./check-quote.ts";
import { createSeenWindows, hashWindows } from "./check-shingles.ts";
import type { OutputCheck } from "./types.ts";

/** Longer than phrases, keys and lines of code that recur in honest work. */
const WINDOW = 64;
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
      const before = quoteOf(text.slice(Math.max(0, start - WINDOW), start));
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
  const hashes = hashWindows(plain, WINDOW);
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
  return `Of the output ${percent} % repeats what it said before, such as “${quoteOf(plain.slice(start, start + 3 * WINDOW))}”.`;
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
    if (length >= WINDOW) stretches.push({ start: index - length, length });
    length = 0;
    if (hash !== undefined) seen.add(hash);
  }
  return stretches;
}

/** Whether a repetition is made of words: letters make up most of it, runs of one character counted once. */
function isWordy(text: string, { start, length }: Stretch): boolean {
  const repeated = text.slice(start, start + Math.min(length, SAMPLE) + WINDOW - 1).replace(VALUES, " ");
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
