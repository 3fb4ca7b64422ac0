import { breakControlTokens } from "./control-tokens.ts";
import { seenSigns } from "./fence.ts";
import { characterAt, isInvisibleAt, nameOf } from "./invisible.ts";
import { MAX_QUOTE_CHARACTERS } from "./policy.ts";

/**
 * Quotes the start of a text as one line of at most `limit` UTF-16 units, with an ellipsis if it was cut. White space becomes single
 * spaces, invisible characters become their code points. Reads only what it shows.
 */
export function quoteOf(text: string, limit: number = MAX_QUOTE_CHARACTERS): string {
  let quote = "";
  let spaced = true;
  let index = 0;
  while (index < text.length) {
    const character = characterAt(text, index);
    // U+0085 is white space in Unicode, but not in JavaScript.
    const seen = /[\s\u0085]/.test(character) ? " " : character;
    const shown = isInvisibleAt(text, index) ? `⟨${nameOf(character)}⟩` : seen;
    const isSpace = shown === " ";
    if (!(isSpace && spaced)) {
      if (quote.length + shown.length > limit) return `${trimTo(quote, limit - 1)}…`;
      quote += shown;
    }
    spaced = isSpace;
    index += character.length;
    // A text may be all white space.
    if (index > limit * READ_AHEAD) return `${trimTo(quote, limit - 1)}…`;
  }
  return quote.trimEnd();
}

const READ_AHEAD = 10;

function trimTo(quote: string, limit: number): string {
  if (quote.length <= limit) return quote.trimEnd();
  const cut = quote.slice(0, limit);
  // A pair that was cut in two leaves its first half.
  return (cut.isWellFormed() ? cut : cut.slice(0, -1)).trimEnd();
}

/** A longer quotation finds no other place, and makes every search slower. */
const MOST_CHARACTERS = 400;

/** JSON escapes: a model that quotes another answer copies these. */
const ESCAPES = /\\(?:([\\/"])|[nrtbf]|u00[01][\da-fA-F])/g;
/** Placeholder of unstorable characters: models copy it or leave it out. */
const UNSTORABLE = /\uFFFD/g;
const QUOTES = /[“”„‟‘’‚‛'«»‹›]/g;
const DASHES = /[\u2010-\u2015\u2212]/g;

/**
 * Creates a search that says if one of the texts contains a quotation of at least `leastCharacters`. It ignores case, width, style,
 * accents, space, JSON escapes, invisible characters, kinds of quotation marks and dashes, and quotation marks and ellipses at the ends,
 * since a text may be written so that no model copies it exactly. The texts are prepared on first use.
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

/** Shortest passage that may not be quoted. */
const TOO_LONG = MAX_QUOTE_CHARACTERS + 1;
/** Base of the rolling hash; odd, so that every unit counts. */
const BASE = 0x01000193;
/** Weight of the unit that leaves the window: BASE to the power of its length, modulo 2³². */
const LEAVING = Array.from({ length: TOO_LONG }).reduce((power: number) => Math.imul(power, BASE), 1);

/** A text with single spaces, and the index of each of its UTF-16 units in the original. */
type Line = { text: string; line: string; at: readonly number[] };

/**
 * Replaces every passage of more than 200 UTF-16 units that a source contains by an ellipsis; white space is ignored. Time is linear. A
 * copy with one changed character in each such passage is not found.
 */
export function elideCopies(texts: readonly string[], sources: readonly string[]): readonly string[] {
  const lines = texts.map(lineOf);
  const wanted = passagesByHash(lines);
  // Roles quote a source as they see it, with the spaces of the fence.
  const seen = wanted.size === 0 ? [] : [...sources, ...sources.map(breakControlTokens)];
  const copied = new Set(seen.flatMap((source) => takeCopies(source, wanted)));
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

/** Rolling hash of the passage at each index. */
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

/** Passages by hash. A hash is only a hint, since collisions can be made. */
function passagesByHash(lines: readonly Line[]): Map<number, Set<string>> {
  const wanted = new Map<number, Set<string>>();
  for (const { line } of lines) {
    for (const [place, hash] of hashesOf(line).entries()) {
      const same = wanted.get(hash) ?? new Set();
      wanted.set(hash, same.add(windowAt(line, place)));
    }
  }
  return wanted;
}

/** Finds wanted passages in a source and removes them, so that a repetitive source costs no more. */
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
  let position = 0;
  for (const { from, to } of passagesOf(line, copied)) {
    const [start, end] = [wholeAt(text, at[from] ?? 0, -1), wholeAt(text, (at[to - 1] ?? 0) + 1, 1)];
    elided += `${text.slice(position, start)}…`;
    position = end;
  }
  return elided + text.slice(position);
}

/** Ranges of copied passages; overlapping and adjacent ones are merged. */
function passagesOf(line: string, copied: ReadonlySet<string>) {
  const passages: { from: number; to: number }[] = [];
  for (let from = 0; from + TOO_LONG <= line.length; from += 1) {
    if (!copied.has(windowAt(line, from))) continue;
    const last = passages.at(-1);
    if (last !== undefined && from <= last.to) last.to = from + TOO_LONG;
    else passages.push({ from, to: from + TOO_LONG });
  }
  return passages;
}

function wholeAt(text: string, place: number, step: 1 | -1): number {
  const isInside =
    /[\ud800-\udbff]/.test(text.charAt(place - 1)) && /[\udc00-\udfff]/.test(text.charAt(place));
  return isInside ? place + step : place;
}
