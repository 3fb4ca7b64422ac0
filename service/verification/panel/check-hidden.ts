import { CLASS, characterAt, characterBefore, isInvisibleAt } from "./invisible.ts";
import { quoteOf } from "./quotes.ts";
import type { OutputCheck } from "./types.ts";

/** Characters quoted before the first hidden one. */
const CONTEXT_CHARACTERS = 40;
/** Two may meet by chance. A longer row carries data. */
const LONGEST_ROW = 2;
/** Nested isolates end and the next one starts. */
const LONGEST_DIRECTING_ROW = 4;
/** Rows that are one visible character apart: split words. Formulas have fewer factors. */
const LONGEST_CHAIN = 5;
/** Pasted text brings at most this many. */
const MOST_PASTED = 3;
/** Share of all characters. Pasted pages stay below it. */
const GREATEST_SHARE = 0.005;
/** Fewer reversed letters do not make a word. */
const MIN_TURNED = 3;

const LONGEST_CLASS = 12;
/** Delimiters around a character that source code names. */
const DELIMITERS = new Set("'\"`/[](){}<>|“”‘’«»„⟨⟩");

/** Classes of characters that may hide text, each tested with one character. */
const HIDING = {
  overriding: /[\u202d\u202e]/,
  /** Splits a word without a visible gap. */
  zeroWidth: /[\u180e\u200b-\u200d\u2060-\u2064\ufeff]/,
  /** Vertical tabs and form feeds of word processors and old files, then quotation marks and dashes of Windows-1252 decoded as Latin-1. */
  layout: /[\v\f\x91-\x97]/,
  /** Left-to-right isolates around pasted names, numbers and paths, word joiner and invisible operators of formulas, icons of fonts. */
  ordinary: /[\u202a\u202c\u2066\u2068\u2069\u2060-\u2064\p{Co}]/u,
  /** Marks, embeddings and isolates of any direction, without overrides. */
  directing: /[\u200e\u200f\u202a-\u202c\u2066-\u2069]/,
  /** Old Hangul syllables use a filler for a missing part. */
  jamo: /[\u1100-\u11ff]/,
} as const;

/**
 * Finds an output that hides text from its reader: tags, letters reversed by an override, rows of invisible characters, words split by
 * them, or more of them than pasted text brings. Null if each may have a use.
 */
export function checkHidden(outputText: string): OutputCheck | null {
  const rows = unseenRows(outputText).filter((row) => !isSubject(outputText, row));
  const hidden = rows.filter(({ hidden: count }) => count > 0);
  const count = hidden.reduce((sum, row) => sum + row.hidden, 0);
  const isMuch = count > MOST_PASTED && count > outputText.length * GREATEST_SHARE;
  const shown = isMuch ? hidden : rows.filter((row) => tells(outputText, row));
  const [first] = shown;
  if (first === undefined) return null;
  const start = Math.max(0, first.start - CONTEXT_CHARACTERS);
  const quote = quoteOf(outputText.slice(start, first.start + 2 * CONTEXT_CHARACTERS));
  const all = shown.reduce((sum, { characters }) => sum + characters.length, 0);
  return {
    name: "hidden_characters",
    finding: `The output carries ${all} hidden character${all === 1 ? "" : "s"}, the first after ${first.start} others: “${quote}”.`,
    criterion: null,
  };
}

/**
 * A row of adjacent invisible characters without a certain use. `hidden` counts those without any use, `chain` the rows up to this one that
 * are one visible character apart.
 */
type Row = { start: number; end: number; characters: string[]; hidden: number; chain: number };

function unseenRows(text: string): readonly Row[] {
  const rows: Row[] = [];
  const isRightToLeft = CLASS.rightToLeft.test(text);
  let index = 0;
  let gap = 0;
  let last: Row | undefined;
  for (const character of text) {
    const isAscii = character >= " " && character < "\x7f";
    const kind = isAscii ? "seen" : hiddenKindAt(text, index, isRightToLeft);
    if (kind === "seen") gap += 1;
    else {
      if (last === undefined || gap > 0) {
        const chain = HIDING.zeroWidth.test(character) ? (gap === 1 ? (last?.chain ?? 0) : 0) + 1 : 0;
        last = { start: index, end: index, characters: [], hidden: 0, chain };
        rows.push(last);
      }
      last.characters.push(character);
      last.end = index + character.length;
      if (kind === "hidden") last.hidden += 1;
      gap = 0;
    }
    index += character.length;
  }
  return rows;
}

/** True for distinct characters between delimiters: source code names them. */
function isSubject(text: string, { start, end, characters }: Row): boolean {
  if (characters.length > LONGEST_CLASS || characters.some(turnsOrTags)) return false;
  const isBetween = DELIMITERS.has(text.charAt(start - 1)) && DELIMITERS.has(text.charAt(end));
  return isBetween && new Set(characters).size === characters.length;
}

function turnsOrTags(character: string): boolean {
  return CLASS.tag.test(character) || HIDING.overriding.test(character);
}

function tells(text: string, { start, end, characters, hidden, chain }: Row): boolean {
  // The first selector of a row may belong to the character before it.
  const length = characters.length + (CLASS.selector.test(characters[0] ?? "") ? 1 : 0);
  const directs = hidden === 0 && characters.every((character) => HIDING.directing.test(character));
  if (length > (directs ? LONGEST_DIRECTING_ROW : LONGEST_ROW) || chain > LONGEST_CHAIN) return true;
  if (characters.some((character) => CLASS.tag.test(character))) return true;
  const turns = characters.some((character) => HIDING.overriding.test(character));
  return turns && turnsLetters(text, start, end);
}

/** True if letters follow before the line or the override ends. */
function turnsLetters(text: string, start: number, end: number): boolean {
  let letters = 0;
  for (let at = end; at < text.length && at - start < CONTEXT_CHARACTERS; at += 1) {
    if (/[\n\r\u202a-\u202e]/.test(text.charAt(at))) break;
    if (CLASS.ofWord.test(characterAt(text, at))) letters += 1;
  }
  return letters >= MIN_TURNED;
}

/**
 * Kind of the character at an index. `seen`: visible, or acts on visible text. `alone`: ordinary unless more follow it. `hidden`: without a
 * known use. The work is bounded for every text.
 */
function hiddenKindAt(text: string, index: number, isRightToLeft: boolean): "seen" | "alone" | "hidden" {
  if (!isInvisibleAt(text, index)) return "seen";
  const character = characterAt(text, index);
  if (CLASS.selector.test(character)) return "hidden";
  const before = characterBefore(text, index);
  const after = characterAt(text, index + character.length);
  // An escape starts a terminal's colour.
  if (HIDING.layout.test(character) || (character === "\x1b" && /[[\](]/.test(after))) return "seen";
  if (HIDING.ordinary.test(character)) return "alone";
  if (HIDING.directing.test(character)) return isRightToLeft ? "alone" : "hidden";
  if (CLASS.joining.test(`${before} ${after}`)) return "alone";
  return hasUseBetween(character, [before, after], { text, index }) ? "alone" : "hidden";
}

/** True for word breaks in scripts without spaces and at word edges, fillers of their script, ligature breaks and joined files. */
function hasUseBetween(
  character: string,
  [before, after]: readonly [string, string],
  { text, index }: { text: string; index: number },
): boolean {
  switch (character) {
    case "\u200b":
    case "\u180e":
      return (
        CLASS.unspaced.test(`${before} ${after}`) || !(CLASS.ofWord.test(before) && CLASS.ofWord.test(after))
      );
    case "\u200c":
      return isTwoLetters(text, index - 2) && isTwoLetters(text, index + 1);
    case "\ufeff":
      return before === "\n";
    case "\u115f":
    case "\u1160":
      return HIDING.jamo.test(`${before} ${after}`);
  }
  return false;
}

function isTwoLetters(text: string, index: number): boolean {
  return /^\p{L}{2}$/u.test(text.slice(Math.max(0, index), index + 2));
}
