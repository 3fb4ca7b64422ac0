import { estimateTokens } from "./estimate-tokens.ts";

/** A text that is not ours, and the name that the prompts call it by. */
export type Block = {
  readonly label: string;
  /** Storable, and without anything that looks like a fence: only blockOf makes it. */
  readonly neutral: string;
  /** What is seen of it, in which markers are looked for. */
  readonly signs: string;
  /** About how many it takes of a model's, on the high side. */
  readonly tokens: number;
};

/** A block of any text: once for all the calls that it goes into, since this takes the longest. */
export function blockOf(label: string, text: string): Block {
  const neutral = neutraliseLookAlikes(storable(text));
  return { label, neutral, signs: seenSigns(neutral), tokens: estimateTokens(neutral) };
}

/**
 * Blocks between lines that carry the marker, in the order given. Whatever a text holds, no line of it is one of these: the marker, in
 * any case and style and with whatever unseen characters between, is taken out, and lines that look like a fence are broken. Throws for
 * a marker that is not 32 hexadecimal digits in lower case.
 */
export function fenceBlocks(blocks: readonly Block[], marker: string): string {
  if (!/^[0-9a-f]{32}$/.test(marker))
    throw new Error("A fence's marker has to be 32 hexadecimal digits in lower case");
  return blocks.map((block) => fence(block, marker)).join("\n\n");
}

function fence({ label, neutral, signs }: Block, marker: string): string {
  // Nearly no text holds it: nobody knows the marker of a call that is still to come. What a removal joins may look like a fence; to
  // neutralise makes no marker.
  const body = signs.includes(marker) ? neutraliseLookAlikes(stripMarker(neutral, marker)) : neutral;
  return `=== BEGIN ${label} ${marker} ===\n${body}\n=== END ${label} ${marker} ===`;
}

/** Models quote what they read, and no database takes a NUL or half of a surrogate pair. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}

/** Characters that nobody sees or that only space: a marker is no less one for having them between its digits. */
const UNSEEN = "[\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Mn}\\p{Me}\\p{Z}]";
const ONE_UNSEEN = new RegExp(`^${UNSEEN}$`, "u");
const RUNS_OF_UNSEEN = new RegExp(`${UNSEEN}+`, "gu");
/** All that a text of ASCII alone has of it, which is found much faster. */
const RUNS_OF_UNSEEN_ASCII = /[\0- \x7F]+/g;
const NOT_ASCII = /[^\0-\x7F]/;

/** A character that stays for now, how many signs a reader takes it for, and how much of the marker ends with it. */
type Kept = { readonly character: string; readonly signs: number; readonly matched: number };

/**
 * All that a reader sees of a text, without case, width, style, accents and space: it holds a marker in lower case where and only
 * where stripMarker takes one out. The same for every marker, and much faster than to look for each in the text itself.
 */
export function seenSigns(text: string): string {
  const seen = NOT_ASCII.test(text)
    ? text.normalize("NFKD").replaceAll(RUNS_OF_UNSEEN, "")
    : text.replaceAll(RUNS_OF_UNSEEN_ASCII, "");
  return seen.toLowerCase();
}

/**
 * The text without any occurrence of the marker (letters and digits), in any case, width or style and with unseen characters between.
 * What a removal joins to a new occurrence is removed too, in one pass: time grows with the text alone.
 */
export function stripMarker(text: string, marker: string): string {
  const digits = [...marker.toLowerCase()];
  const fallbacks = fallbacksOf(digits);
  const kept: Kept[] = [];
  for (const character of text) {
    const signs = signsOf(character);
    let matched = kept.at(-1)?.matched ?? 0;
    const end = signs.findIndex((sign) => {
      matched = advance({ digits, fallbacks, matched }, sign);
      return matched === digits.length;
    });
    if (end === -1) kept.push({ character, signs: signs.length, matched });
    else dropLast(kept, digits.length - 1 - end);
  }
  return kept.map(({ character }) => character).join("");
}

/** Takes characters of so many signs from the end, and the unseen ones between them. */
function dropLast(kept: Kept[], signs: number): void {
  let left = signs;
  while (left > 0) left -= kept.pop()?.signs ?? left;
}

type Automaton = {
  readonly digits: readonly string[];
  readonly fallbacks: readonly number[];
  readonly matched: number;
};

/** Knuth, Morris and Pratt: how much of the marker is matched once the character has come. */
function advance({ digits, fallbacks, matched }: Automaton, character: string): number {
  let length = matched;
  while (length > 0 && digits[length] !== character) length = fallbacks[length - 1] ?? 0;
  return digits[length] === character ? length + 1 : 0;
}

/** For every beginning of the marker, the length of its longest end that is a beginning as well. */
function fallbacksOf(digits: readonly string[]): number[] {
  const fallbacks = [0];
  for (let index = 1; index < digits.length; index += 1) {
    const matched = fallbacks[index - 1] ?? 0;
    fallbacks.push(advance({ digits, fallbacks, matched }, digits[index] ?? ""));
  }
  return fallbacks;
}

/** What a reader takes a character for, without its case, width, style and accents: two letters for a ligature, none if it is unseen. */
function signsOf(character: string): readonly string[] {
  if (character > " " && character < "\x7F") return [character.toLowerCase()];
  const seen = [...character.normalize("NFKD")].filter((part) => !ONE_UNSEEN.test(part));
  return seen.map((part) => part.toLowerCase());
}

/** Signs that a reader may take for an equals sign. */
const EQUALS = "=\\u1400\\u2261\\u2550\\u30A0\\uA4FF\\uFE66\\uFF1D\\u2E40";
const LINE_ENDS = "\\n\\r\\v\\f\\x85\\u2028\\u2029";
/** What nobody sees, or only as space, within a line. */
const UNSEEN_IN_LINE = `[[\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Mn}\\p{Me}\\p{Z}]--[${LINE_ENDS}]]`;

/** Whole runs of such signs: as each is taken at once, time grows with the text alone. */
const RUNS = new RegExp(`[${EQUALS}][${EQUALS}${UNSEEN_IN_LINE}]*`, "gv");
const EACH_EQUALS = new RegExp(`[${EQUALS}]`, "gv");
const ONE_UNSEEN_IN_LINE = new RegExp(`^${UNSEEN_IN_LINE}$`, "v");
const LINE_END = new RegExp(`^[${LINE_ENDS}]$`, "v");
/** What marks a line as a quote, an item or a comment. */
const DECORATION = /^[->#*|"'`.:_~/]$/;
/** What goes on with a word of ours, as in "ending"; letters of other scripts begin another. */
const WORD = /^[a-z0-9_]/;

const KEYWORDS = ["begin", "end"];
const LABELS = ["specification", "criteria", "output", "evidence", "ballot", "critique", "answer"];

/**
 * Tokens with which chat templates of open models part the turns of a conversation. A server that reads them within a message would
 * take what follows for our own words; a space after their first sign makes them plain text.
 */
const CONTROL_TOKENS =
  /<(?=[|\uFF5C][^|\uFF5C<>\n]{1,64}[|\uFF5C]>|\/?s>|<\/?SYS>>|(?:start|end)_of_turn>|(?:bos|eos|pad|unk)>)|\[(?=\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])/giu;

/**
 * The text with the equals signs of whatever looks like a fence turned into hyphens, whatever marker it names, and with control
 * tokens of chat templates broken by a space. A fence begins its line, or names one of our blocks. Nothing else changes.
 */
export function neutraliseLookAlikes(text: string): string {
  const fenceless = text.replaceAll(RUNS, (run: string, at: number) =>
    looksLikeFence(text, { at, run }) ? run.replaceAll(EACH_EQUALS, "-") : run,
  );
  return fenceless.replaceAll(CONTROL_TOKENS, (sign) => `${sign} `);
}

function looksLikeFence(text: string, { at, run }: { readonly at: number; readonly run: string }): boolean {
  if ((run.match(EACH_EQUALS)?.length ?? 0) < 2) return false;
  const after = KEYWORDS.map((word) => endOf(text, at + run.length, word)).find((end) => end !== null);
  if (after === undefined || after === null) return false;
  if (LABELS.some((label) => endOf(text, after, label) !== null)) return true;
  return beginsLine(text, at) && !WORD.test(plainOf(characterAt(text, after)));
}

/** Where the text goes on after the word, in any case or width and with unseen characters between its letters; null if it is not there. */
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

/** Whether nothing but space and decoration stands before it on its line; in JSON a line may begin after an escaped end of line. */
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

/** The whole code point there; empty at the end of the text. */
function characterAt(text: string, at: number): string {
  const point = text.codePointAt(at);
  return point === undefined ? "" : String.fromCodePoint(point);
}

/** Most text is ASCII, of which all but the controls and the space is seen, and is its own plain form. */
function isVisibleAscii(character: string): boolean {
  return character > " " && character < "\x7F" && character.length === 1;
}

function isUnseen(character: string): boolean {
  return !isVisibleAscii(character) && ONE_UNSEEN_IN_LINE.test(character);
}

function plainOf(character: string): string {
  return (isVisibleAscii(character) ? character : character.normalize("NFKC")).toLowerCase();
}
