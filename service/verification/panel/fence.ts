import { breakControlTokens } from "./control-tokens.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { characterAt } from "./invisible.ts";

/** A third party's text, with its name in the prompts. */
export type Block = ReturnType<typeof blockOf>;

/**
 * Prepares a text once for all its calls, because this is the slow part. `neutral` is storable and without lines that look like a fence,
 * `signs` are its visible characters, in which markers are searched, and `tokens` are a high estimate.
 */
export function blockOf(label: string, text: string) {
  // Models quote their input, and PostgreSQL refuses NUL and unpaired surrogates.
  const neutral = neutraliseLookAlikes(text.toWellFormed().replaceAll("\0", "\uFFFD"));
  return { label, neutral, signs: seenSigns(neutral), tokens: estimateTokens(neutral) };
}

/**
 * Joins blocks between fence lines with the marker, in the given order. No line of a text equals a fence line: the marker is removed in any
 * case, style and spacing, and lines that look like a fence are broken. `controlTokens` are further ones, which are broken as those are that
 * show their form. Throws for a marker other than 32 hexadecimal digits in lower case.
 */
export function fenceBlocks(
  blocks: readonly Block[],
  marker: string,
  controlTokens: readonly string[] = [],
): string {
  if (!/^[0-9a-f]{32}$/.test(marker))
    throw new Error("A fence's marker has to be 32 hexadecimal digits in lower case");
  return blocks.map((block) => fence(block, marker, controlTokens)).join("\n\n");
}

function fence({ label, neutral, signs }: Block, marker: string, controlTokens: readonly string[]): string {
  // Hardly any text holds it, since the marker is random. A removal may create a line that looks like a fence; neutralising creates no
  // marker.
  const stripped = signs.includes(marker) ? neutraliseLookAlikes(stripMarker(neutral, marker)) : neutral;
  const seen = controlTokens.length === 0 ? "" : seenSigns(stripped);
  const body = controlTokens.filter((token) => seen.includes(seenSigns(token))).reduce(breakWord, stripped);
  return `=== BEGIN ${label} ${marker} ===\n${body}\n=== END ${label} ${marker} ===`;
}

/** Invisible and blank characters. They do not break a marker. */
const UNSEEN = "[\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Mn}\\p{Me}\\p{Z}]";
const ONE_UNSEEN = new RegExp(`^${UNSEEN}$`, "u");
const RUNS_OF_UNSEEN = new RegExp(`${UNSEEN}+`, "gu");
/** The ASCII part of it, for a faster path. */
const RUNS_OF_UNSEEN_ASCII = /[\0- \x7F]+/g;
const NOT_ASCII = /[^\0-\x7F]/;

/** A character that stays, its number of visible signs, and the length of the marker prefix that ends with it. */
type Piece = { character: string; signs: number; matched: number };

/**
 * Visible signs of a text without case, width, style, accents and space. It contains a lower-case marker exactly if stripMarker would
 * remove one. It is computed once for all markers, which is much faster.
 */
export function seenSigns(text: string): string {
  const seen = NOT_ASCII.test(text)
    ? text.normalize("NFKD").replaceAll(RUNS_OF_UNSEEN, "")
    : text.replaceAll(RUNS_OF_UNSEEN_ASCII, "");
  return seen.toLowerCase();
}

/**
 * Removes every occurrence of the marker (letters and digits), in any case, width or style and with invisible characters between. An
 * occurrence that a removal creates is removed too. One pass, linear time.
 */
export function stripMarker(text: string, marker: string): string {
  const digits = [...marker.toLowerCase()];
  const fallbacks = fallbacksOf(digits);
  const pieces: Piece[] = [];
  for (const character of text) {
    const signs = signsOf(character);
    let matched = pieces.at(-1)?.matched ?? 0;
    const end = signs.findIndex((sign) => {
      matched = advance({ digits, fallbacks, matched }, sign);
      return matched === digits.length;
    });
    if (end === -1) pieces.push({ character, signs: signs.length, matched });
    else dropLast(pieces, digits.length - 1 - end);
  }
  return pieces.map(({ character }) => character).join("");
}

/** Drops characters with this many signs from the end, and the invisible ones between them. */
function dropLast(pieces: Piece[], signs: number): void {
  let left = signs;
  while (left > 0) left -= pieces.pop()?.signs ?? left;
}

/** Knuth-Morris-Pratt: length of the matched prefix after this character. */
function advance(
  {
    digits,
    fallbacks,
    matched,
  }: { digits: readonly string[]; fallbacks: readonly number[]; matched: number },
  character: string,
): number {
  let length = matched;
  while (length > 0 && digits[length] !== character) length = fallbacks[length - 1] ?? 0;
  return digits[length] === character ? length + 1 : 0;
}

/** KMP failure table: for each prefix, the longest proper suffix that is also a prefix. */
function fallbacksOf(digits: readonly string[]): number[] {
  const fallbacks = [0];
  for (let index = 1; index < digits.length; index += 1) {
    const matched = fallbacks[index - 1] ?? 0;
    fallbacks.push(advance({ digits, fallbacks, matched }, digits[index] ?? ""));
  }
  return fallbacks;
}

/** Visible signs of a character without case, width, style and accents: two letters for a ligature, none if it is invisible. */
function signsOf(character: string): readonly string[] {
  if (character > " " && character < "\x7F") return [character.toLowerCase()];
  const seen = [...character.normalize("NFKD")].filter((part) => !ONE_UNSEEN.test(part));
  return seen.map((part) => part.toLowerCase());
}

/** Characters that look like an equals sign. */
const EQUALS = "=\\u1400\\u2261\\u2550\\u30A0\\uA4FF\\uFE66\\uFF1D\\u2E40";
const LINE_ENDS = "\\n\\r\\v\\f\\x85\\u2028\\u2029";
/** Characters that are invisible or blank within a line. */
const UNSEEN_IN_LINE = `[[\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Mn}\\p{Me}\\p{Z}]--[${LINE_ENDS}]]`;

/** Whole runs, so that time is linear in the text. */
const RUNS = new RegExp(`[${EQUALS}][${EQUALS}${UNSEEN_IN_LINE}]*`, "gv");
const EACH_EQUALS = new RegExp(`[${EQUALS}]`, "gv");
const ONE_UNSEEN_IN_LINE = new RegExp(`^${UNSEEN_IN_LINE}$`, "v");
const LINE_END = new RegExp(`^[${LINE_ENDS}]$`, "v");
/** Marks of a quote, an item or a comment. */
const DECORATION = /^[->#*|"'`.:_~/]$/;
/** Characters that continue a keyword, as in "ending"; letters of other scripts start another word. */
const WORD = /^[a-z0-9_]/;

const KEYWORDS = ["begin", "end"];
const LABELS = ["specification", "criteria", "output", "evidence", "ballot", "critique", "answer"];

/**
 * Replaces equals signs by hyphens in everything that looks like a fence, with any marker, and puts a space into everything that looks like a
 * control token. A fence starts its line or names one of our blocks. Nothing else changes.
 */
export function neutraliseLookAlikes(text: string): string {
  const fenceless = text.replaceAll(RUNS, (run: string, at: number) =>
    looksLikeFence(text, { at, run }) ? run.replaceAll(EACH_EQUALS, "-") : run,
  );
  return breakControlTokens(fenceless);
}

function looksLikeFence(text: string, { at, run }: { at: number; run: string }): boolean {
  if ((run.match(EACH_EQUALS)?.length ?? 0) < 2) return false;
  const after = KEYWORDS.map((word) => endOf(text, at + run.length, word)).find((end) => end !== null);
  if (after === undefined || after === null) return false;
  if (LABELS.some((label) => endOf(text, after, label) !== null)) return true;
  return beginsLine(text, at) && !WORD.test(plainOf(characterAt(text, after)));
}

/**
 * Returns the index after the word, matched in any case or width with invisible characters between its letters; null if it is not there.
 */
function endOf(text: string, from: number, word: string): number | null {
  let at = from;
  for (const letter of word) {
    while (isUnseen(characterAt(text, at))) at += characterAt(text, at).length;
    const character = characterAt(text, at);
    if (plainOf(character) !== letter) return null;
    at += character.length;
  }
  return at;
}

/** Puts a space after the first character of a word wherever it is, in any case or width and with invisible characters in it. */
function breakWord(text: string, word: string): string {
  const letters = plainOf(word);
  let broken = "";
  for (let at = 0; at < text.length; ) {
    const character = characterAt(text, at);
    const isFirst = plainOf(character) === characterAt(letters, 0);
    broken += isFirst && endOf(text, at, letters) !== null ? `${character} ` : character;
    at += character.length;
  }
  return broken;
}

/** True if only space and decoration precede it on its line. In JSON a line may start after an escaped line end. */
function beginsLine(text: string, at: number): boolean {
  let index = at;
  while (index > 0) {
    const character = characterBefore(text, index);
    if (LINE_END.test(character)) return true;
    if (character === "n" && text.charAt(index - 2) === "\\") return true;
    if (!isUnseen(character) && !DECORATION.test(character)) return false;
    index -= character.length;
  }
  return true;
}

function characterBefore(text: string, at: number): string {
  const pair = characterAt(text, at - 2);
  return pair.length === 2 ? pair : text.charAt(at - 1);
}

/** Fast path for ASCII: visible except controls and space, and its own plain form. */
function isVisibleAscii(character: string): boolean {
  return character > " " && character < "\x7F" && character.length === 1;
}

function isUnseen(character: string): boolean {
  return !isVisibleAscii(character) && ONE_UNSEEN_IN_LINE.test(character);
}

function plainOf(character: string): string {
  return (isVisibleAscii(character) ? character : character.normalize("NFKC")).toLowerCase();
}
