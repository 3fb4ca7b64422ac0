import { seenSigns } from "./fence.ts";
import { isInvisibleAt } from "./invisible.ts";
import { MAX_QUOTE_CHARACTERS } from "./policy.ts";

/**
 * The start of a text as one line of at most the given number of UTF-16 units, an ellipsis included where something was left out;
 * white space becomes single spaces, and characters that show nothing stand as their code points. Reads no more than it shows.
 */
export function quoteOf(text: string, limit: number = MAX_QUOTE_CHARACTERS): string {
  let quote = "";
  let spaced = true;
  let index = 0;
  while (index < text.length) {
    const point = text.codePointAt(index) ?? 0;
    const shown = showAt(text, index, point);
    const isSpace = shown === " ";
    if (!(isSpace && spaced)) {
      if (quote.length + shown.length > limit) return `${trimTo(quote, limit - 1)}…`;
      quote += shown;
    }
    spaced = isSpace;
    index += point > 0xffff ? 2 : 1;
    // White space alone may be endless.
    if (index > limit * READ_AHEAD) return `${trimTo(quote, limit - 1)}…`;
  }
  return quote.trimEnd();
}

const READ_AHEAD = 10;

function showAt(text: string, index: number, point: number): string {
  if (isInvisibleAt(text, index)) return `⟨U+${point.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  const character = String.fromCodePoint(point);
  // The next line (U+0085) is white space in Unicode, though not to JavaScript.
  return /[\s\u0085]/.test(character) ? " " : character;
}

function trimTo(quote: string, limit: number): string {
  if (quote.length <= limit) return quote.trimEnd();
  const cut = quote.slice(0, limit);
  // A pair that was cut in two leaves its first half.
  return (cut.isWellFormed() ? cut : cut.slice(0, -1)).trimEnd();
}

/** More of a quotation names no other place, and makes every search longer. */
const MOST_CHARACTERS = 400;

/** As JSON writes signs within a text: a model that copies exactly from an answer of another copies these. */
const ESCAPES = /\\(?:([\\/"])|[nrtbf]|u00[01][\da-fA-F])/g;
/** Stands for what cannot be stored: models copy it or leave it out. */
const UNSTORABLE = /\uFFFD/g;
const QUOTES = /[“”„‟‘’‚‛'«»‹›]/g;
const DASHES = /[\u2010-\u2015\u2212]/g;

/**
 * Tells of a quotation whether one of the texts holds it, of which so many characters have to be left. Case, width, style, accents,
 * space, escapes of JSON, characters that show nothing, and the kinds of quotation marks and dashes make no difference, nor do
 * quotation marks and ellipses at its ends: texts may be written so that no model copies them exactly. They are made ready once a
 * quotation is looked for.
 */
export function createQuoteSearch(
  texts: readonly string[],
  leastCharacters: number,
): (quotation: string) => boolean {
  let ready: readonly string[] | null = null;
  return (quotation) => {
    const sought = withoutEnds(comparable(quotation).slice(0, MOST_CHARACTERS));
    if (sought.length < leastCharacters) return false;
    ready ??= [...new Set(texts)].map(comparable);
    return ready.some((text) => text.includes(sought));
  };
}

function comparable(text: string): string {
  const unescaped = text.replace(ESCAPES, "$1");
  return seenSigns(unescaped).replace(UNSTORABLE, "").replace(QUOTES, '"').replace(DASHES, "-");
}

function withoutEnds(quotation: string): string {
  return quotation.replace(/^(?:"|\.{3})+/, "").replace(/(?:"|\.{3})+$/, "");
}

/** The shortest passage that is too long to quote. */
const TOO_LONG = MAX_QUOTE_CHARACTERS + 1;
/** Of the hash that passages are found by; odd, so that every unit of a passage counts. */
const BASE = 0x01000193;
/** What the unit that leaves a passage weighs: BASE to the power of its length, modulo 2³². */
const LEAVING = Array.from({ length: TOO_LONG }).reduce((power: number) => Math.imul(power, BASE), 1);

/** A text with its white space as single spaces, and where each of its UTF-16 units stands in the text. */
type Line = { readonly text: string; readonly line: string; readonly at: readonly number[] };

/**
 * The texts with an ellipsis in place of every passage of more than 200 UTF-16 units that stands in one of the sources in the same
 * characters, white space aside. Linear in all of them. Whoever changes a character in each such passage is not found.
 */
export function elideCopies(texts: readonly string[], sources: readonly string[]): readonly string[] {
  const lines = texts.map(lineOf);
  const wanted = byHash(lines);
  const copied = new Set(wanted.size === 0 ? [] : sources.flatMap((source) => takeCopies(source, wanted)));
  return lines.map((line) => (copied.size === 0 ? line.text : elide(line, copied)));
}

function lineOf(text: string): Line {
  const at: number[] = [];
  for (const { index, 0: part } of text.matchAll(/\s+|\S+/g)) {
    const units = /^\s/.test(part) ? 1 : part.length;
    for (let unit = 0; unit < units; unit += 1) at.push(index + unit);
  }
  return { text, line: spaced(text), at };
}

function spaced(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

function windowAt(line: string, place: number): string {
  return line.slice(place, place + TOO_LONG);
}

/** A hash of every passage of that length, at each place: those of equal passages are equal. */
function hashesOf(line: string): Int32Array {
  const hashes = new Int32Array(Math.max(0, line.length - TOO_LONG + 1));
  let hash = 0;
  for (let unit = 0; unit < line.length; unit += 1) {
    hash = Math.imul(hash, BASE) + line.charCodeAt(unit);
    if (unit >= TOO_LONG) hash -= Math.imul(line.charCodeAt(unit - TOO_LONG), LEAVING);
    hash |= 0;
    if (unit >= TOO_LONG - 1) hashes[unit - TOO_LONG + 1] = hash;
  }
  return hashes;
}

/** The passages of the texts by their hashes: a hint alone, since anybody can make two of them share one. */
function byHash(lines: readonly Line[]): Map<number, Set<string>> {
  const wanted = new Map<number, Set<string>>();
  for (const { line } of lines) {
    for (const [place, hash] of hashesOf(line).entries()) {
      const same = wanted.get(hash) ?? new Set();
      wanted.set(hash, same.add(windowAt(line, place)));
    }
  }
  return wanted;
}

/** Which of the wanted passages stand in a source; takes them out, so that a source that repeats itself costs no more. */
function takeCopies(source: string, wanted: Map<number, Set<string>>): readonly string[] {
  const line = spaced(source);
  const copies: string[] = [];
  for (const [place, hash] of hashesOf(line).entries()) {
    const same = wanted.get(hash);
    const window = same === undefined ? "" : windowAt(line, place);
    if (same?.delete(window) !== true) continue;
    copies.push(window);
    if (same.size === 0) wanted.delete(hash);
  }
  return copies;
}

function elide({ text, line, at }: Line, copied: ReadonlySet<string>): string {
  let elided = "";
  let kept = 0;
  for (const { from, to } of passagesOf(line, copied)) {
    const [start, end] = [wholeAt(text, at[from] ?? 0, -1), wholeAt(text, (at[to - 1] ?? 0) + 1, 1)];
    elided += `${text.slice(kept, start)}…`;
    kept = end;
  }
  return elided + text.slice(kept);
}

/** Where copied passages begin and end; those that overlap or meet are one. */
function passagesOf(
  line: string,
  copied: ReadonlySet<string>,
): readonly { readonly from: number; readonly to: number }[] {
  const passages: { from: number; to: number }[] = [];
  for (let from = 0; from + TOO_LONG <= line.length; from += 1) {
    if (!copied.has(windowAt(line, from))) continue;
    const last = passages.at(-1);
    if (last !== undefined && from <= last.to) last.to = from + TOO_LONG;
    else passages.push({ from, to: from + TOO_LONG });
  }
  return passages;
}

/** The place, or the one beside it where it is between the halves of a pair. */
function wholeAt(text: string, place: number, step: 1 | -1): number {
  const isInside =
    /[\ud800-\udbff]/.test(text.charAt(place - 1)) && /[\udc00-\udfff]/.test(text.charAt(place));
  return isInside ? place + step : place;
}
