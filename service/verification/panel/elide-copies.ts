import { MAX_QUOTE_CHARACTERS } from "./policy.ts";

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
