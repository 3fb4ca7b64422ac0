import { quoteOf } from "./check-quote.ts";
import { createSeenWindows, hashWindows } from "./check-shingles.ts";
import type { OutputCheck } from "./types.ts";

/** Longer than phrases, keys and lines of code that recur in honest work. */
const WINDOW = 64;
/** A text written twice repeats half of itself, but for the windows over its seam. */
const REPEATED_SHARE = 0.45;
/** Less than this repeats itself in honest short texts: refrains, tables, boilerplate. */
const MIN_REPEATED = 400;
/** Rules and frames of tables are shorter. */
const LONGEST_RUN = 400;
/** Empty pages; indentation and tables have text in between. */
const LONGEST_BLANK = 1_000;

/** An output that is filled up: by repeating itself, by a run of one character, or by blanks; null where it is not. */
export function checkPadded(outputText: string): OutputCheck | null {
  const finding = findRun(outputText) ?? findBlank(outputText) ?? findRepetition(outputText);
  return finding === null ? null : { name: "padded", finding, criterion: null };
}

function findRun(text: string): string | null {
  let start = 0;
  for (let index = 1; index <= text.length; index += 1) {
    if (index < text.length && text.charCodeAt(index) === text.charCodeAt(start)) continue;
    if (index - start >= LONGEST_RUN && !isBlank(text.charCodeAt(start))) {
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

/** The share of windows that stood there before: what a compressor would save, without one. */
function findRepetition(text: string): string | null {
  const plain = text.replace(/\s+/g, " ").toLowerCase();
  const hashes = hashWindows(plain, WINDOW);
  const seen = createSeenWindows(hashes.length);
  let repeated = 0;
  let first = -1;
  hashes.forEach((hash, index) => {
    if (seen.has(hash)) {
      repeated += 1;
      // Single windows may be errors of the filter; one that a run of them follows is none.
      if (first < 0 && repeated > WINDOW) first = index;
    } else seen.add(hash);
  });
  const share = repeated / hashes.length;
  if (repeated < MIN_REPEATED || share < REPEATED_SHARE) return null;
  const percent = Math.floor(share * 100);
  return `Of the output ${percent} % repeats what it said before, such as “${quoteOf(plain.slice(first, first + 3 * WINDOW))}”.`;
}

function isBlank(unit: number): boolean {
  return unit <= 0x20 || unit === 0xa0 || (unit >= 0x2000 && unit <= 0x200b) || unit === 0x3000;
}
